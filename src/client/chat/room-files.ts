import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { basename } from 'node:path'
import { printable } from '../../base/text.ts'
import { randomHex } from '../../base/random.ts'
import type { Answer } from '../../contract/define.ts'
import { fault } from '../../contract/errors.ts'
import { filesystem } from '../../contract/filesystem.ts'
import type { Api } from '../api.ts'
import { folderAmong, SHARED } from './room-folder.ts'
import type { ChatRoom } from './room-names.ts'

export type RoomFile = Answer<typeof filesystem.actions.list>['items'][number]

async function folderOf(api: Api, room: ChatRoom): Promise<string> {
  const { items } = await api.call(filesystem.actions.list, { path: SHARED })
  const folder = folderAmong(
    items.map(({ name }) => name),
    room,
  )
  if (folder === undefined) throw fault('not_found', { text: 'The room has no folder for files.' })
  return folder
}

/** Files of a room, by name. */
export async function roomFiles(api: Api, room: ChatRoom): Promise<RoomFile[]> {
  const { items } = await api.call(filesystem.actions.list, { path: await folderOf(api, room) })
  return items.filter(({ type }) => type === 'file')
}

/** Puts a local file into a room under its own name. A file of that name that is there already is refused. */
export async function uploadToRoom(api: Api, room: ChatRoom, local: string): Promise<{ name: string; size: number }> {
  const name = basename(local).normalize('NFC')
  const found = await stat(local)
  if (!found.isFile()) throw fault('bad_request', { text: `${local} is not a file.` })
  const path = await folderOf(api, room)
  const { items } = await api.call(filesystem.actions.list, { path })
  if (items.some((item) => item.name.normalize('NFC') === name))
    throw fault('exists', { text: `The room has a file ${name} already.` })
  const boundary = `svc-${randomHex(16)}`
  // The value of a parameter as browsers write it (WHATWG HTML, multipart/form-data encoding).
  const quoted = name.replace(/["\r\n]/g, (character) => encodeURIComponent(character))
  const head = Buffer.from(
    `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="${quoted}"\r\n` +
      'Content-Type: application/octet-stream\r\n\r\n',
  )
  const tail = Buffer.from(`\r\n--${boundary}--\r\n`)
  async function* body(): AsyncGenerator<Uint8Array> {
    yield head
    yield* createReadStream(local, { end: Math.max(0, found.size - 1) }) as AsyncIterable<Uint8Array>
    yield tail
  }
  const headers = { 'content-type': `multipart/form-data; boundary=${boundary}` }
  const { size } = await api.send(filesystem.actions.upload, { path }, body(), head.length + found.size + tail.length, {
    headers,
  })
  return { name, size }
}

/** Fetches a file of a room. A local file is never replaced: the error is EEXIST then. Returns where it lies. */
export async function downloadFromRoom(api: Api, room: ChatRoom, name: string, to: string): Promise<string> {
  const { streamDurably } = await import('../../host/durable.ts')
  const path = await folderOf(api, room)
  const { items } = await api.call(filesystem.actions.list, { path })
  const found = items.find((item) => item.type === 'file' && item.name.normalize('NFC') === name.normalize('NFC'))
  if (!found) throw fault('not_found', { text: `The room has no file ${printable(name)}.` })
  const { body } = await api.receive(filesystem.actions.download, { path: `${path}/${found.name}` })
  await streamDurably(to, body, { replace: false })
  return to
}
