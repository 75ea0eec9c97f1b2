import { join } from 'node:path'
import { expect, test } from 'vitest'
import { documentOf } from '../../../src/domain/accounts/user-document.ts'
import { updateAccount } from '../../../src/storage/accounts/accounts.ts'
import { markImport } from '../../../src/storage/accounts/imports.ts'
import type { Local } from '../../../src/wiring/local-domain.ts'
import { openForTest } from '../../support/storage.ts'
import { anotherServer, archiveOf, HASH, readable } from './world.ts'

const archive = archiveOf([{ name: 'files/a.txt', content: 'x'.repeat(100_000) }])

const stateOf = async ({ domain }: Local): Promise<string> => documentOf(await domain.accounts.details('ada')).state

/** An import of ada that has stored the account and waits, in the middle of a file, until it is told to go on. */
async function waitingImport({ domain }: Local) {
  let [arrive, goOn] = [() => {}, () => {}]
  const arrived = new Promise<void>((resolve) => (arrive = resolve))
  const release = new Promise<void>((resolve) => (goOn = resolve))
  let reads = 0
  const plan = await domain.portability.planImport(async function* () {
    reads += 1
    for await (const piece of readable(archive, 20_000)()) {
      if (reads === 2 && piece.byteOffset - archive.byteOffset >= 60_000) {
        arrive()
        await release
      }
      yield piece
    }
  })
  const imported = plan.execute({ hash: HASH })
  imported.catch(() => undefined)
  await arrived
  return { imported, goOn, id: (await domain.accounts.byName('ada')).id }
}

test('an account that is being imported can be neither enabled nor disabled before it is complete', async () => {
  const server = await anotherServer()
  const { accounts } = server.domain
  const { imported, goOn, id } = await waitingImport(server)
  expect(await stateOf(server)).toBe('importing')
  const message = 'The import of "ada" is not complete. If it was interrupted, repeat it or remove the account.'
  await expect(accounts.enable(id)).rejects.toMatchObject({ code: 'conflict', message })
  await expect(accounts.disable(id)).rejects.toMatchObject({ code: 'conflict', message })
  goOn()
  await imported
  expect(await stateOf(server)).toBe('active')
  await accounts.disable(id)
  await accounts.enable(id)
  expect(await stateOf(server)).toBe('active')
})

test('an account that is removed while it is imported stays removed, and the import says so', async () => {
  const server = await anotherServer()
  const { imported, goOn, id } = await waitingImport(server)
  await server.domain.accounts.remove(id)
  goOn()
  await expect(imported).rejects.toMatchObject({
    code: 'conflict',
    message: '"ada" was removed while it was imported.',
  })
  expect(await server.domain.accounts.list()).toEqual([])
})

test('what an interrupted import left is replaced by the next one, which says so before', async () => {
  const server = await anotherServer()
  const { accounts, portability } = server.domain
  const { id } = await accounts.create({ username: 'ada', password: 'analytical engine' })
  await openForTest(join(server.dataDir, 'svc.db')).write('instance', async (tx) => {
    await updateAccount(tx, id, { disabled_at: 1 }, 1)
    await markImport(tx, id, 1)
  })
  await expect(accounts.enable(id)).rejects.toMatchObject({ code: 'conflict' })
  const plan = await portability.planImport(readable(archive))
  expect(plan.replaces).toBe(true)
  expect((await plan.execute({ hash: HASH })).id).not.toBe(id)
  expect(await stateOf(server)).toBe('active')
  expect((await portability.planImport(readable(archive), { username: 'bob' })).replaces).toBe(false)
})
