import { join } from 'node:path'
import { expect, test } from 'vitest'
import { INLINE_MAX } from '../../../src/storage/contents/contents.ts'
import { backupTarget } from '../../../src/wiring/backups/backup-locations.ts'
import { restore } from '../../../src/wiring/backups/restore.ts'
import { clientOf, type Account } from '../../support/account.ts'
import { channelOf, heard, say } from '../../support/chat.ts'
import { bytesOf, sha256Of } from '../../support/contents.ts'
import { noPassphrases, sourceOf } from '../../support/backups.ts'
import { makeRandom } from '../../support/random.ts'
import { folderOfTest, serverOfTest, startServer } from '../../support/server.ts'

const USERS = 4
const BACKUPS = 3

/** What one user was told is stored, in order. */
interface Memory {
  files: Map<string, string>
  notes: number[]
  messages: number[]
}

test('a backup of a busy server shows one moment: all that was acknowledged before, and nothing in part', async () => {
  const server = await serverOfTest()
  const users = await Promise.all(
    Array.from({ length: USERS }, (_, index) => server.account({ username: `user-of-backup-${index}` })),
  )
  const room = await channelOf(users[0]!, ...users.slice(1))
  const memories = new Map<Account, Memory>(users.map((user) => [user, { files: new Map(), notes: [], messages: [] }]))
  let isOver = false

  async function work(user: Account, seed: number): Promise<void> {
    const random = makeRandom(seed)
    const memory = memories.get(user)!
    for (let turn = 0; !isOver; turn++) {
      const size = random.below(3) === 0 ? INLINE_MAX + random.below(300_000) : random.below(5_000)
      const content = bytesOf(size, seed * 10_000 + turn)
      const path = `/file ${turn}.bin`
      await user.put(path, content)
      memory.files.set(path, sha256Of(content))
      const { results } = await user.push({
        table: 'svc_notes',
        operation: 'INSERT',
        data: { title: `note ${turn}` },
      })
      memory.notes.push(results[0]!.id!)
      memory.messages.push((await say(user, room, `message ${turn}`)).message_id)
    }
  }

  const working = users.map((user, index) => work(user, index + 1))
  const folder = await folderOfTest()
  const repository = join(folder, 'repo')
  const seen: { id: string; before: Map<string, Memory> }[] = []
  for (let round = 0; round < BACKUPS; round++) {
    const before = new Map(
      [...memories].map(([{ username }, { files, notes, messages }]) => [
        username,
        { files: new Map(files), notes: [...notes], messages: [...messages] },
      ]),
    )
    const wish = { to: repository, encrypt: false, startsOver: false }
    const target = await backupTarget(server.local, wish, noPassphrases)
    const { manifest } = await server.local.domain.backups.create(target)
    expect(manifest.missing).toEqual([])
    seen.push({ id: manifest.id, before })
  }
  isOver = true
  await Promise.all(working)

  const source = await sourceOf(repository)
  for (const { id, before } of seen) {
    const dataDir = join(folder, id)
    await restore(source, id, { target: dataDir, keepDevices: true })
    const restored = await startServer({ dataDir })
    try {
      for (const user of users) {
        const there: Account = { ...user, ...clientOf(restored.url, user.token) }
        const { files, cursor } = await there.manifest()
        const known = before.get(user.username)!
        const byPath = new Map(files.map(({ path, sha256 }) => [path, sha256]))
        for (const [path, sha256] of known.files) expect([path, byPath.get(path)]).toEqual([path, sha256])
        for (const { path, sha256 } of files) {
          const { status, bytes } = await there.download(path)
          expect([path, status, sha256Of(bytes)]).toEqual([path, 200, sha256])
        }
        const { data, cursor: head } = await there.everything()
        expect(cursor).toBe(head)
        const notes = new Set(data['svc_notes']!.map((row) => row.id))
        expect(known.notes.filter((note) => !notes.has(note))).toEqual([])
        const messages = new Set((await heard(there, room, { limit: 200 })).map((message) => message.message_id))
        expect(known.messages.slice(-10).filter((message) => !messages.has(message))).toEqual([])
      }
    } finally {
      await restored.close()
    }
  }
})
