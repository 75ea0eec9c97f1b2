import type { Answer } from '../contract/define.ts'
import { isFault } from '../contract/errors.ts'
import { filesystem } from '../contract/filesystem.ts'
import { syncFiles } from '../contract/sync-files.ts'
import { notOurs, readJson } from './answers.ts'
import type { Api } from './api.ts'

export type RemoteItem = Answer<typeof filesystem.actions.list>['items'][number]

/** A path of the account as people write it: with or without the first slash, with or without a last one. */
export const remotePath = (text: string): string => `/${text.replace(/^\/+|\/+$/g, '')}`

export const nameOf = (path: string): string => path.slice(path.lastIndexOf('/') + 1)
export const parentOf = (path: string): string => path.slice(0, path.lastIndexOf('/')) || '/'

/** Whether a path leads to files of chat rooms, which the sync API does not know. */
export const isShared = (path: string): boolean => /^\/teamchat(?:\/|$)/i.test(path)

/** A name below a folder. */
export const below = (folder: string, name: string): string => `${folder === '/' ? '' : folder}/${name}`

/** What a folder holds, or undefined where there is no such folder. */
export async function listFolder(api: Api, path: string): Promise<RemoteItem[] | undefined> {
  try {
    return (await api.call(filesystem.actions.list, { path })).items
  } catch (error) {
    if (isFault(error, 'not_found')) return undefined
    throw error
  }
}

/** The file or folder at a path, or undefined. Names in different Unicode normal forms are the same name. */
export async function look(api: Api, path: string): Promise<RemoteItem | undefined> {
  // The folder of the rooms stands in no list.
  if (path === '/' || /^\/teamchat$/i.test(path)) return { name: nameOf(path), type: 'directory', modified: '' }
  const name = nameOf(path).normalize('NFC')
  return (await listFolder(api, parentOf(path)))?.find((item) => item.name.normalize('NFC') === name)
}

/** The path that something gets which is moved or copied to `to`: a folder, or what ends in a slash, takes it in. */
export async function landingOf(api: Api, from: string, to: string): Promise<string> {
  const target = remotePath(to)
  const isFolder = to.endsWith('/') || (await look(api, target))?.type === 'directory'
  return isFolder && target !== from ? below(target, nameOf(from)) : target
}

type Manifest = Answer<typeof syncFiles.actions.manifest>

export interface RemoteTree {
  /** The server tells no hash of a room's file in a list. */
  files: { path: string; size: number; sha256: string | undefined }[]
  directories: string[]
}

/** Everything below a folder: its files, and the folders in it, with their paths as the server spells them. */
export async function readTree(api: Api, folder: string): Promise<RemoteTree> {
  if (isShared(folder)) return readShared(api, folder)
  const answer = await readJson(await api.receive(syncFiles.actions.manifest, {}), api.url)
  const { files, directories = [] } = answer as Partial<Manifest>
  if (!Array.isArray(files) || !Array.isArray(directories)) throw notOurs(api.url, 200, 'no list of files')
  const start = below(folder, '').normalize('NFC')
  const inside = (path: string) => path.normalize('NFC').startsWith(start)
  return { files: files.filter(({ path }) => inside(path)), directories: directories.filter(inside) }
}

async function readShared(api: Api, folder: string): Promise<RemoteTree> {
  const tree: RemoteTree = { files: [], directories: [] }
  const left = [folder]
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    for (const { name, type, size = 0 } of (await listFolder(api, next)) ?? []) {
      const path = below(next, name)
      if (type === 'file') tree.files.push({ path, size, sha256: undefined })
      else {
        tree.directories.push(path)
        left.push(path)
      }
    }
  }
  return tree
}

/** Creates a folder and its missing parents; `created` is false where it exists already. */
export async function makeFolder(api: Api, path: string): Promise<{ created: boolean }> {
  if (!isShared(path)) return api.call(syncFiles.actions.mkdir, { path })
  try {
    await api.call(filesystem.actions.mkdir, { path })
    return { created: true }
  } catch (error) {
    if (!isFault(error, 'exists') || (await look(api, path))?.type !== 'directory') throw error
    return { created: false }
  }
}

/** Moves a file or a folder. */
export async function movePath(api: Api, from: string, to: string): Promise<void> {
  const action = isShared(from) || isShared(to) ? filesystem.actions.move : syncFiles.actions.move
  await api.call(action, { from, to })
}

/** Moves a file or a folder with everything in it into the trash; false where there was none. */
export async function trashPath(api: Api, path: string): Promise<boolean> {
  if (!isShared(path)) {
    const { deleted } = await api.call(syncFiles.actions.delete, { path }, { repeatable: true })
    return deleted === true
  }
  try {
    await api.call(filesystem.actions.trash, { path })
    return true
  } catch (error) {
    if (isFault(error, 'not_found')) return false
    throw error
  }
}
