import { join } from 'node:path'
import { expect, test } from 'vitest'
import { filesystem } from '../../src/contract/filesystem.ts'
import { syncData } from '../../src/contract/sync-data.ts'
import { syncFiles } from '../../src/contract/sync-files.ts'
import { teamChat } from '../../src/contract/team-chat.ts'
import { trash } from '../../src/contract/trash.ts'
import { channelOf } from '../support/chat.ts'
import { bytesOf } from '../support/contents.ts'
import { serverOfTest } from '../support/server.ts'
import { fill, smallDisk } from '../support/small-disk.ts'

const MIB = 1 << 20

test('a full disk is never taken for a full quota, nor the other way round', async (context) => {
  const made = await smallDisk(24 * MIB)
  if ('reason' in made) return context.skip(made.reason)
  const server = await serverOfTest({ dataDir: join(made.folder, 'data') })
  const ada = await server.account({ quota: 8 * MIB })
  const room_id = await channelOf(ada, await server.account())
  const inRoom = () => {
    const body = new FormData()
    body.append('file', new Blob([bytesOf(100_000, 7)]), 'shared.bin')
    return ada.call(filesystem.actions.upload, { path: '/Teamchat/Engines' }, { body })
  }
  // Each of them needs more than the database has at hand.
  const title = 'x'.repeat(200)
  const operations = Array.from({ length: 100 }, () => ({
    table: 'svc_notes',
    operation: 'INSERT' as const,
    data: { title, content: 'y'.repeat(20_000) },
  }))
  const attempts = () => [
    () => ada.upload('/large.bin', bytesOf(2 * MIB, 2)),
    () => ada.upload('/middle.bin', bytesOf(60_000, 3)),
    inRoom,
    () => ada.call(syncData.actions.push, { operations }),
    () => ada.call(teamChat.actions.send, { room_id, content: 'z'.repeat(16_000) }),
  ]
  const outcomes = async () => {
    const answers: [number, unknown][] = []
    for (const attempt of attempts()) {
      const { status, json } = await attempt()
      answers.push([status, json['code']])
    }
    return answers
  }

  const full = [507, 'disk_full']
  const makeRoom = await fill(made.folder)
  expect(await outcomes()).toEqual([full, full, full, full, full])
  // Nothing of it is there, and what is there can be read.
  expect((await ada.manifest()).files).toEqual([])
  expect((await ada.everything()).data['svc_notes']).toEqual([])
  expect((await ada.ask(filesystem.actions.quota, {})).used).toBe(0)

  await makeRoom()
  expect((await outcomes()).map(([status]) => status)).toEqual([200, 200, 200, 200, 200])
  const refused = await ada.upload('/too-large.bin', bytesOf(7 * MIB, 4))
  expect([refused.status, refused.json['code']]).toEqual([413, 'quota_exceeded'])
})

test('a disk that uploads filled can be emptied again by its users', async (context) => {
  const made = await smallDisk(24 * MIB)
  if ('reason' in made) return context.skip(made.reason)
  const server = await serverOfTest({ dataDir: join(made.folder, 'data') })
  const ada = await server.account()
  let [files, reply] = [0, await ada.upload('/0', bytesOf(MIB, 0))]
  for (; reply.status === 200 && files < 100; files++)
    reply = await ada.upload(`/${files + 1}`, bytesOf(files < 15 ? MIB : 70_000, files + 1))
  expect([reply.status, reply.json['code']]).toEqual([507, 'disk_full'])
  // Without a length it is judged by what has arrived.
  const chunked = new ReadableStream({
    start(controller) {
      for (let piece = 0; piece < 40; piece++) controller.enqueue(bytesOf(20_000, piece))
      controller.close()
    },
  })
  expect((await ada.upload('/chunked', chunked as never)).status).toBe(507)

  expect((await ada.another()).token).toMatch(/./)
  for (let file = 0; file < 4; file++)
    expect(await ada.ask(syncFiles.actions.delete, { path: `/${file}` })).toMatchObject({ deleted: true })
  await ada.ask(trash.actions.empty, {})
  const [note] = (await ada.push({ table: 'svc_notes', operation: 'INSERT', data: { title: 'x' } })).results
  expect(note).toMatchObject({ ok: true })
})
