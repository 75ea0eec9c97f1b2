import { expect, test } from 'vitest'
import { MINUTE } from '../../../src/base/clock.ts'
import { makeLockout } from '../../../src/domain/accounts/lockout.ts'
import { makeWorld, refusal } from './world.ts'

test('failures that were under way when the name was locked do not prolong the lock, and are not told to be wrong', async () => {
  const { database, clock } = await makeWorld()
  const lockout = makeLockout({ clock, key: new Uint8Array(32) })
  for (let time = 0; time < 5; time += 1) await database.write('instance', (tx) => lockout.fail(tx, 'ada'))
  const end = clock.now() + 15 * MINUTE
  clock.pass(MINUTE)
  for (let time = 0; time < 7; time += 1)
    expect((await refusal(database.write('instance', (tx) => lockout.fail(tx, 'ada')))).code).toBe('account_locked')
  expect(await lockout.lockedUntil(database.read, ['ada', 'bob'])).toEqual(new Map([['ada', end]]))
  expect((await refusal(lockout.assertOpen(database.read, 'ada'))).extra.retryAfter).toBe(14 * 60)
  clock.pass(14 * MINUTE)
  await lockout.assertOpen(database.read, 'ada')
  expect(await lockout.lockedUntil(database.read, ['ada'])).toEqual(new Map())
})

test('names are kept under a key of the installation', async () => {
  const { database, clock } = await makeWorld()
  const one = makeLockout({ clock, key: new Uint8Array(32).fill(1) })
  const two = makeLockout({ clock, key: new Uint8Array(32).fill(2) })
  for (let time = 0; time < 5; time += 1) await database.write('instance', (tx) => one.fail(tx, 'ada'))
  expect((await one.lockedUntil(database.read, ['ada'])).size).toBe(1)
  expect((await two.lockedUntil(database.read, ['ada'])).size).toBe(0)
})
