/** Folder of room files, which has its own rules. */
export const ROOMS = '/Teamchat'

export const join = (folder: string, name: string): string => (folder === '/' ? `/${name}` : `${folder}/${name}`)

export const parentOf = (path: string): string => path.slice(0, path.lastIndexOf('/')) || '/'

export const nameOf = (path: string): string => path.slice(path.lastIndexOf('/') + 1)

export const trimSlashes = (path: string): string => path.replace(/\/+$/, '') || '/'

/** Folders from the root to a path, with their names; the root's is empty. */
export function breadcrumbsOf(path: string): { name: string; path: string }[] {
  const names = path.split('/').filter(Boolean)
  return [{ name: '', path: '/' }, ...names.map((name, at) => ({ name, path: `/${names.slice(0, at + 1).join('/')}` }))]
}

/** Whether a path equals a folder or lies in it. */
export const isWithin = (path: string, folder: string): boolean =>
  path === folder || folder === '/' || path.startsWith(`${folder}/`)

/** Whether a path is `/Teamchat` or the folder of a room; these cannot be changed here. */
export const isFixed = (path: string): boolean => isWithin(path, ROOMS) && breadcrumbsOf(path).length <= 3

/** Whether a folder accepts files: `/Teamchat` contains only folders of rooms. */
export const takesFiles = (folder: string): boolean => folder !== ROOMS

/** Splits off the extension: `a.tar.gz` is `a.tar` and `.gz`, `.profile` has none. */
export function splitName(name: string): [beginning: string, ending: string] {
  const dot = name.lastIndexOf('.')
  return dot <= 0 ? [name, ''] : [name.slice(0, dot), name.slice(dot)]
}

/** An unused name, ignoring case: `plan.txt`, `plan (2).txt`. */
export function freeName(name: string, taken: Iterable<string>): string {
  const known = new Set([...taken].map((one) => one.toLowerCase()))
  const [beginning, ending] = splitName(name)
  let free = name
  for (let number = 2; known.has(free.toLowerCase()); number++) free = `${beginning} (${number})${ending}`
  return free
}
