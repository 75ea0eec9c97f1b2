import { expect, test, vi } from 'vitest'
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
