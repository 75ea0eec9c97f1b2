import { expect, test } from 'vitest'
import { makeGroups, type Transaction } from '../../src/storage/engine/group-commit.ts'
import type { BareWriter } from '../../src/storage/engine/notifications.ts'

/** A transaction of an engine whose next calls fail as told. */
function failing(faults: Partial<Record<'begin' | 'commit' | 'rollback', number>>) {
  const steps: string[] = []
  let isOpen = false
  const step = (name: 'begin' | 'commit' | 'rollback'): Promise<void> => {
    steps.push(name)
    const left = faults[name] ?? 0
    if (left > 0) {
      faults[name] = left - 1
      return Promise.reject(new Error(`${name} failed`))
    }
    isOpen = name === 'begin'
    return Promise.resolve()
  }
  const transaction: Transaction = {
    writer: { attempt: <T>(part: () => Promise<T>) => part() } as BareWriter,
    begin: () => (isOpen ? Promise.reject(new Error('begin inside of a transaction')) : step('begin')),
    isOpen: () => isOpen,
    commit: () => step('commit'),
    rollback: () => step('rollback'),
    fromEngineError: (error) => error,
  }
  return { write: makeGroups(transaction, () => undefined).write, steps }
}

test('a rollback that fails refuses its units only: it is tried again, and later units are written', async () => {
  const { write, steps } = failing({ commit: 1, rollback: 2 })
  await expect(write('instance', () => Promise.resolve('lost'))).rejects.toThrow('commit failed')
  await expect(write('instance', () => Promise.resolve('refused'))).rejects.toThrow('rollback failed')
  await expect(write('instance', () => Promise.resolve('kept'))).resolves.toBe('kept')
  expect(steps).toEqual(['begin', 'commit', 'rollback', 'rollback', 'rollback', 'begin', 'commit'])
})

test('a transaction that cannot begin refuses its units, and the next one begins', async () => {
  const { write } = failing({ begin: 1 })
  await expect(write('instance', () => Promise.resolve('refused'))).rejects.toThrow('begin failed')
  await expect(write('instance', () => Promise.resolve('kept'))).resolves.toBe('kept')
})

test('the first unit of an account comes before the second ones of others, and a long commit is divided', async () => {
  const { write, steps } = failing({})
  const order: string[] = []
  const unit = (name: string, user: number, ms = 0) =>
    write({ accounts: [user] }, async () => {
      order.push(name)
      const end = performance.now() + ms
      while (performance.now() < end);
      return Promise.resolve()
    })
  // While the first commit is under way, the others queue up.
  await Promise.all([
    ...['a', 'b', 'c', 'd'].map((name) => unit(`flood ${name}`, 1, 120)),
    unit('one', 2),
    unit('two', 2),
    unit('other', 3),
  ])
  expect(order).toEqual(['flood a', 'one', 'other', 'flood b', 'two', 'flood c', 'flood d'])
  expect(steps.filter((step) => step === 'commit').length).toBeGreaterThan(3)
})

test('while others wait, the second units of an account wait for the next commit, and the event loop runs between units', async () => {
  const { write, steps } = failing({})
  const order: string[] = []
  let late: Promise<unknown> | undefined
  const unit = (name: string, user: number) =>
    write({ accounts: [user] }, async () => {
      order.push(`${name} ${steps.filter((step) => step === 'commit').length}`)
      const end = performance.now() + 12
      while (performance.now() < end);
      return Promise.resolve()
    })
  const flood = ['a', 'b', 'c', 'd'].map((name) => unit(name, 1))
  // Arrives while the first commit is prepared.
  setImmediate(() => setImmediate(() => void (late = unit('late', 2))))
  await Promise.all(flood)
  await late
  // One unit of the flood before it at most, and after that only with it.
  const commitOf = (name: string) => Number(order.find((each) => each.startsWith(name))!.split(' ')[1])
  expect(order.indexOf(`late ${commitOf('late')}`)).toBeLessThan(4)
  expect(commitOf('late')).toBeLessThan(commitOf('d'))
})
