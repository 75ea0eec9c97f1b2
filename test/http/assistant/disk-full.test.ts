import { mkdir, readdir, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { assistant } from '../../../src/contract/assistant.ts'
import { filesystem } from '../../../src/contract/filesystem.ts'
import { askFor, eventsOf, stage } from '../../support/assistant.ts'
import { folderOfTest } from '../../support/server.ts'
import { fill, smallDisk } from '../../support/small-disk.ts'

const { ask, changes, conversations } = assistant.actions

const MIB = 1 << 20
const write = (path: string) => ({ name: 'write_file', arguments: { path, content: 'x'.repeat(200_000) } })

test('a tool that finds the disk for contents full changes nothing, and the model is told', async (context) => {
  const made = await smallDisk(4 * MIB)
  if ('reason' in made) return context.skip(made.reason)
  const dataDir = join(await folderOfTest(), 'data')
  await mkdir(dataDir, { mode: 0o700 })
  await symlink(made.folder, join(dataDir, 'blobs'))
  const { server, model, ada } = await stage({ dataDir })
  const makeRoom = await fill(made.folder)

  model.will({ calls: [write('/a.txt')] }, { text: 'There is no room.' })
  const answer = await askFor(ada, { message: 'Write it' })
  expect(answer).toMatchObject({ response: 'There is no room.', usage: { tool_calls: 1 } })
  expect(answer).not.toHaveProperty('change_set_id')
  expect(model.heard[1]!.messages.at(-1)!.content).toBe("Error: The server's disk is full; nothing was stored.")
  expect((await ada.manifest()).files).toEqual([])
  expect((await ada.ask(filesystem.actions.quota, {})).used).toBe(0)
  expect((await ada.ask(changes, {})).changes).toEqual([])
  expect(await readdir(join(made.folder, 'tmp'))).toEqual([])
  const [entry] = await server.local.domain.instance.audit.list({ kinds: ['assistant.tool'], limit: 1 })
  expect(entry!.detail).toContain('"result":"failed"')

  await makeRoom()
  model.will({ calls: [write('/a.txt')] }, { text: 'Written.' })
  expect(await askFor(ada, { message: 'Again' })).toMatchObject({ response: 'Written.', change_set_id: 1 })
  expect((await ada.manifest()).files).toMatchObject([{ path: '/a.txt', size: 200_000 }])
})

test('an answer that cannot be stored is refused as what it is, also as a stream', async (context) => {
  const made = await smallDisk(16 * MIB)
  if ('reason' in made) return context.skip(made.reason)
  const { model, ada } = await stage({ dataDir: join(made.folder, 'data') })
  const makeRoom = await fill(made.folder)
  const message = 'y'.repeat(50_000)

  model.will({ calls: [write('/a.txt')] })
  const refused = await ada.call(ask, { message })
  expect([refused.status, refused.json['code']]).toEqual([507, 'disk_full'])
  model.will({ text: 'Good morning.' })
  const events = eventsOf(await ada.call(ask, { message, stream: true }))
  expect(events.map(({ event }) => event)).toEqual(['delta', 'delta', 'error'])
  expect(events.at(-1)).toMatchObject({ data: { ok: false, code: 'disk_full' } })
  expect((await ada.ask(conversations, {})).conversations).toEqual([])
  expect((await ada.manifest()).files).toEqual([])

  await makeRoom()
  model.will({ calls: [write('/a.txt')] }, { text: 'Written.' })
  expect(await askFor(ada, { message })).toMatchObject({ response: 'Written.', change_set_id: 1 })
})
