import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { basename } from 'node:path'
import { printable } from '../../base/text.ts'
import type { Answer } from '../../contract/define.ts'
import { fault } from '../../contract/errors.ts'
import { filesystem } from '../../contract/filesystem.ts'
import type { Api } from '../api.ts'
import { multipartFile } from '../http/multipart.ts'
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

/** The files in the folder of a room. Throws `not_found` if the room has none. */
export async function roomFiles(api: Api, room: ChatRoom): Promise<RoomFile[]> {
  const { items } = await api.call(filesystem.actions.list, { path: await folderOf(api, room) })
  return items.filter(({ type }) => type === 'file')
}

/** Uploads a local file under its own name; `size` is in bytes. Throws `exists` instead of replacing a file. */
export async function uploadToRoom(api: Api, room: ChatRoom, local: string): Promise<{ name: string; size: number }> {
  const name = basename(local).normalize('NFC')
  const found = await stat(local)
  if (!found.isFile()) throw fault('bad_request', { text: `${local} is not a file.` })
  const path = await folderOf(api, room)
  const { items } = await api.call(filesystem.actions.list, { path })
  if (items.some((item) => item.name.normalize('NFC') === name))
    throw fault('exists', { text: `The room already has a file ${name}.` })
  // Opened lazily: an earlier error would have no listener.
  async function* content(): AsyncGenerator<Uint8Array> {
    yield* createReadStream(local, { end: Math.max(0, found.size - 1) }) as AsyncIterable<Uint8Array>
  }
  const sent = multipartFile(name, content(), found.size)
  const { headers } = sent
  const { size } = await api.send(filesystem.actions.upload, { path }, sent.body, sent.size, { headers })
  return { name, size }
}

/** Downloads a file of a room and returns its path. Never replaces a local file: throws EEXIST. */
export async function downloadFromRoom(api: Api, room: ChatRoom, name: string, to: string): Promise<string> {
  const { streamDurably } = await import('../../host/durable-files.ts')
  const path = await folderOf(api, room)
  const { items } = await api.call(filesystem.actions.list, { path })
  const found = items.find((item) => item.type === 'file' && item.name.normalize('NFC') === name.normalize('NFC'))
  if (!found) throw fault('not_found', { text: `The room has no file ${printable(name)}.` })
  const { body } = await api.receive(filesystem.actions.download, { path: `${path}/${found.name}` })
  await streamDurably(to, body, { replace: false })
  return to
}
