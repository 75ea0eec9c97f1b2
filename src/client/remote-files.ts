import type { Answer } from '../contract/define.ts'
import { isFault } from '../contract/errors.ts'
import { filesystem } from '../contract/filesystem.ts'
import { syncFiles } from '../contract/sync-files.ts'
import { readJson } from './answers.ts'
import type { Api } from './api.ts'
import { Unreachable } from './trouble.ts'

export type RemoteItem = Answer<typeof filesystem.actions.list>['items'][number]

/** A path of the account as people write it: with or without the first slash, with or without a last one. */
export const remotePath = (text: string): string => `/${text.replace(/^\/+|\/+$/g, '')}`

export const nameOf = (path: string): string => path.slice(path.lastIndexOf('/') + 1)
const parentOf = (path: string): string => path.slice(0, path.lastIndexOf('/')) || '/'

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
  if (path === '/') return { name: '', type: 'directory', modified: '' }
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

/** Everything below a folder: its files, and the folders in it, with their paths as the server spells them. */
export async function readTree(api: Api, folder: string): Promise<Pick<Manifest, 'files' | 'directories'>> {
  const answer = await readJson(await api.receive(syncFiles.actions.manifest, {}), api.url)
  const { files, directories = [] } = answer as Partial<Manifest>
  if (!Array.isArray(files) || !Array.isArray(directories))
    throw new Unreachable(`${api.url} sent no sound list of files.`)
  const start = below(folder, '').normalize('NFC')
  const inside = (path: string) => path.normalize('NFC').startsWith(start)
  return { files: files.filter(({ path }) => inside(path)), directories: directories.filter(inside) }
}
