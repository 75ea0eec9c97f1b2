import { signal } from '@preact/signals'
import { folderAmong, SHARED } from '../../../client/chat/room-folder.ts'
import { bridge } from '../../kit/bridge.ts'
import { uuid } from '../../kit/rows.ts'
import { toast } from '../../kit/toast.tsx'
import { describeError, ApiError } from '../../kit/api-error.ts'
import type { AnswerOf } from '../../wire/actions.ts'
import { rooms } from './store.ts'

export type RoomFile = AnswerOf<'filesystem.list'>['items'][number]

interface Upload {
  key: string
  room: number
  name: string
  percent: number
  stop: () => void
}

export const uploads = signal<readonly Upload[]>([])
export const changed = signal(0)

async function folderOf(room_id: number): Promise<string> {
  const room = rooms.value.find((one) => one.room_id === room_id)
  const { items } = await bridge.call('filesystem.list', { path: SHARED })
  const names = items.map(({ name }) => name)
  const folder = room && folderAmong(names, room)
  if (folder === undefined) throw new ApiError({ code: 'not_found', message: '' })
  return folder
}

/** The files of a room, newest first. */
export async function filesOf(room_id: number): Promise<{ folder: string; files: RoomFile[] }> {
  const folder = await folderOf(room_id)
  const { items } = await bridge.call('filesystem.list', { path: folder })
  return { folder, files: items.toSorted((a, b) => b.modified.localeCompare(a.modified)) }
}

/** An unused name: `plan (2).pdf`. */
function freeName(name: string, taken: ReadonlySet<string>): string {
  const dot = name.lastIndexOf('.')
  const [stem, ending] = dot > 0 ? [name.slice(0, dot), name.slice(dot)] : [name, '']
  for (let count = 1; ; count++) {
    const tried = count === 1 ? name : `${stem} (${count})${ending}`
    if (!taken.has(tried)) return tried
  }
}

async function upload(room: number, folder: string, name: string, file: File): Promise<boolean> {
  const key = uuid()
  const stopper = new AbortController()
  uploads.value = [...uploads.value, { key, room, name, percent: 0, stop: () => stopper.abort(new Error('Stopped.')) }]
  const onProgress = (sent: number, total: number) => {
    const percent = total > 0 ? Math.round((sent / total) * 100) : 0
    uploads.value = uploads.value.map((one) => (one.key === key ? { ...one, percent } : one))
  }
  try {
    await bridge.call('filesystem.upload', { path: folder }, { body: file, name, onProgress, signal: stopper.signal })
    return true
  } catch (error) {
    if (!stopper.signal.aborted) toast(`${name}: ${describeError(error)}`, { tone: 'bad' })
    return false
  } finally {
    uploads.value = uploads.value.filter((one) => one.key !== key)
  }
}

const linkTo = (folder: string, name: string): string =>
  `[${name.replace(/[[\]\\*_`~<>]/g, '\\$&')}](${encodeURI(`${folder}/${name}`).replace(/[()]/g, (sign) => (sign === '(' ? '%28' : '%29'))})`

/** Uploads files to a room one by one and passes on links to them. Returns whether all succeeded. */
export async function uploadAll(
  room: number,
  files: readonly File[],
  linked: (link: string) => void,
): Promise<boolean> {
  const links: string[] = []
  try {
    const { folder, files: present } = await filesOf(room)
    const taken = new Set(present.map(({ name }) => name))
    for (const file of files) {
      const name = freeName(file.name.normalize('NFC'), taken)
      taken.add(name)
      if (await upload(room, folder, name, file)) links.push(linkTo(folder, name))
    }
  } catch (error) {
    toast(describeError(error), { tone: 'bad' })
  }
  changed.value++
  if (links.length > 0) linked(`${links.join('\n')} `)
  return links.length === files.length
}
