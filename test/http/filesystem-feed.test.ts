import { expect, test } from 'vitest'
import { filesystem } from '../../src/contract/filesystem.ts'
import { syncFiles } from '../../src/contract/sync-files.ts'
import { trash } from '../../src/contract/trash.ts'
import { versions } from '../../src/contract/versions.ts'
import type { Account } from '../support/account.ts'
import { mirrorOf } from '../support/mirror.ts'
import { makeRandom, type Random } from '../support/random.ts'
import { makeRoom } from '../support/rooms.ts'
import { serverOfFile } from '../support/server.ts'
import { tarOf } from '../support/tar.ts'

const fs = filesystem.actions

const server = await serverOfFile()

const NAMES = ['a', 'b', 'é', 'e\u0301', 'c']

const pathOf = (random: Random): string =>
  Array.from({ length: 1 + random.below(3) }, () => `/${random.of(NAMES)}`).join('')

/** Something that a device or a desktop may do, with whatever is there. */
async function step(account: Account, random: Random) {
  const [path, to] = [pathOf(random), pathOf(random)]
  const content = 'x'.repeat(random.below(5))
  const { items } = await account.ask(trash.actions.list, {})
  const entry = items.length > 0 ? random.of(items).id : 1
  const kinds = [
    () => account.call(fs.write, { path, content }),
    () => account.call(fs.write, { path, content }),
    () => account.call(fs.mkdir, { path }),
    () => account.call(fs.delete, { path }),
    () => account.call(fs.trash, { path }),
    () => account.call(fs.move, { from: path, to }),
    () => account.call(fs.copy, { from: path, to }),
    () => account.call(syncFiles.actions.delete, { path }),
    () => account.call(trash.actions.restore, { id: entry }),
    () => account.call(trash.actions.restore, { id: entry, to }),
    () => account.call(trash.actions.delete, { id: entry }),
    () => account.call(fs.write, { path: `/Teamchat/Room${path}`, content }),
    async () => {
      const { json } = await account.call(versions.actions.list, { path })
      const known = (json['versions'] ?? []) as { version_id: number }[]
      return account.call(versions.actions.restore, { path, version_id: known.at(-1)?.version_id || 1 })
    },
    () =>
      account.call(
        syncFiles.actions.upload_batch,
        {},
        {
          headers: { 'content-type': 'application/x-tar' },
          body: tarOf({ name: path, content }, { name: to, type: '5' }, { name: to, content }),
        },
      ),
    () =>
      account.call(syncFiles.actions.files_batch, {
        operations: [
          { op: 'move', from: path, to },
          { op: 'delete', path },
          { op: 'mkdir', path },
        ],
      }),
  ]
  return random.of(kinds)()
}

test.each([1, 2, 3, 4])('a client that follows the feed always knows the tree (seed %i)', async (seed) => {
  const random = makeRandom(seed)
  const account = await server.account({ quota: 60 })
  await makeRoom(server, 'Room', account)
  const mirror = mirrorOf(account)
  const late = mirrorOf(account)
  const seen = new Set<number>()
  for (let round = 0; round < 120; round += 1) {
    seen.add((await step(account, random)).status)
    const elsewhere = await server.database.read.q
      .selectFrom('nodes')
      .select(({ fn }) => fn.sum('size').as('bytes'))
      .where('user_id', '=', account.id)
      .where('room_id', 'is not', null)
      .where('trash_id', 'is', null)
      .executeTakeFirstOrThrow()
    await mirror.follow({ elsewhere: Number(elsewhere.bytes) })
    if (round % 40 === 39) await late.follow({ elsewhere: Number(elsewhere.bytes) })
  }
  // Each of them was refused for a reason, or done.
  expect([...seen].filter((status) => ![200, 400, 404, 409, 413].includes(status))).toEqual([])
  expect(seen.has(200)).toBe(true)
})
