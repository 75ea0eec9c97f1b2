import type { Answer } from '../../contract/define.ts'
import { isFault } from '../../contract/errors.ts'
import { filesystem } from '../../contract/filesystem.ts'
import { syncFiles } from '../../contract/sync-files.ts'
import { foreignResponse, readJson } from '../http/response.ts'
import type { Api } from '../api.ts'

export type RemoteItem = Answer<typeof filesystem.actions.list>['items'][number]

/** Normalises a path of the account: leading and trailing slashes are optional. */
export const remotePath = (text: string): string => `/${text.replace(/^\/+|\/+$/g, '')}`

/** The last segment; empty for the root. */
export const nameOf = (path: string): string => path.slice(path.lastIndexOf('/') + 1)
export const parentOf = (path: string): string => path.slice(0, path.lastIndexOf('/')) || '/'

/** Whether a path belongs to the files of chat rooms, which the sync API does not cover. */
export const isShared = (path: string): boolean => /^\/teamchat(?:\/|$)/i.test(path)

/** The path of a name in a folder. */
export const below = (folder: string, name: string): string => `${folder === '/' ? '' : folder}/${name}`

/** The entries of a folder; undefined if there is no such folder. */
export async function listFolder(api: Api, path: string): Promise<RemoteItem[] | undefined> {
  try {
    return (await api.call(filesystem.actions.list, { path })).items
  } catch (error) {
    if (isFault(error, 'not_found')) return undefined
    throw error
  }
}

/** The file or folder at a path; undefined if there is none. Unicode normal forms of a name are equal. */
export async function lookUp(api: Api, path: string): Promise<RemoteItem | undefined> {
  // No listing contains the folder of rooms.
  if (path === '/' || /^\/teamchat$/i.test(path)) return { name: nameOf(path), type: 'directory', modified: '' }
  const name = nameOf(path).normalize('NFC')
  return (await listFolder(api, parentOf(path)))?.find((item) => item.name.normalize('NFC') === name)
}

/** The target path of a move or copy to `to`: a folder, or a path with a trailing slash, receives the source. */
export async function targetPath(api: Api, from: string, to: string): Promise<string> {
  const target = remotePath(to)
  const isFolder = to.endsWith('/') || (await lookUp(api, target))?.type === 'directory'
  return isFolder && target !== from ? below(target, nameOf(from)) : target
}

type Manifest = Answer<typeof syncFiles.actions.manifest>

export interface RemoteTree {
  /** Listings do not include hashes of files in rooms. */
  files: { path: string; size: number; sha256: string | undefined }[]
  directories: string[]
}

/** All files and folders below a folder, at one moment except in rooms. Sizes in bytes. */
export async function readTree(api: Api, folder: string): Promise<RemoteTree> {
  if (isShared(folder)) return readShared(api, folder)
  const answer = await readJson(await api.receive(syncFiles.actions.manifest, {}), api.url)
  const { files, directories = [] } = answer as Partial<Manifest>
  if (!Array.isArray(files) || !Array.isArray(directories)) throw foreignResponse(api.url, 200, 'no list of files')
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

/** Creates a folder and its missing parents; `created` is false if it exists. */
export async function makeFolder(api: Api, path: string): Promise<{ created: boolean }> {
  if (!isShared(path)) return api.call(syncFiles.actions.mkdir, { path })
  try {
    await api.call(filesystem.actions.mkdir, { path })
    return { created: true }
  } catch (error) {
    if (!isFault(error, 'exists') || (await lookUp(api, path))?.type !== 'directory') throw error
    return { created: false }
  }
}

/** Moves or renames a file or folder. Throws `not_found`, and `exists` if `to` is taken. */
export async function movePath(api: Api, from: string, to: string): Promise<void> {
  const action = isShared(from) || isShared(to) ? filesystem.actions.move : syncFiles.actions.move
  await api.call(action, { from, to })
}

/** Moves a file or folder to the trash; false if it does not exist. */
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
