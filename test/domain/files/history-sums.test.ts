import { expect, test, vi } from 'vitest'
import { Busy } from '../../../src/base/errors.ts'
import { Connection } from '../../../src/storage/engine/sqlite-connection.ts'
import { serverOfFile } from '../../support/server.ts'

const server = await serverOfFile()

test('the history of an account is summed up when a version was kept, not for every new file', async () => {
  const ada = await server.account()
  await ada.put('/first', 'one')
  const run = vi.spyOn(Connection.prototype, 'run')
  const sums = async (work: () => Promise<unknown>): Promise<number> => {
    run.mockClear()
    await work()
    return run.mock.calls.filter(([{ sql }]) => sql.includes('from versions where user_id')).length
  }
  expect(await sums(() => ada.put('/second', 'two'))).toBe(0)
  expect(await sums(() => ada.put('/folder/third', 'three'))).toBe(0)
  expect(await sums(() => ada.put('/second', 'another'))).toBe(1)
  run.mockRestore()
})

test('a change that is committed is not answered as failed when clean-up after it fails', async () => {
  const ada = await server.account()
  await ada.put('/kept', 'one')
  const { run } = Object.getOwnPropertyDescriptors(Connection.prototype)
  const failing = vi.spyOn(Connection.prototype, 'run').mockImplementation(function (this: Connection, query) {
    if (query.sql.includes('from versions where user_id')) throw new Busy('The database is locked.')
    return (run.value as Connection['run']).call(this, query)
  })
  try {
    expect((await ada.put('/kept', 'another')).version).toBe(2)
  } finally {
    failing.mockRestore()
  }
})
