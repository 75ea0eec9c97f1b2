/** Folder of the chat rooms' files, which follow rules of their own. */
export const ROOMS = '/Teamchat'

export const join = (folder: string, name: string): string => (folder === '/' ? `/${name}` : `${folder}/${name}`)

export const parentOf = (path: string): string => path.slice(0, path.lastIndexOf('/')) || '/'

export const nameOf = (path: string): string => path.slice(path.lastIndexOf('/') + 1)

/** A path without a slash at its end; the root keeps its own. */
export const trimSlashes = (path: string): string => path.replace(/\/+$/, '') || '/'

/** Folders from the root to a path, each with its name; the root's is empty. */
export function breadcrumbsOf(path: string): { name: string; path: string }[] {
  const names = path.split('/').filter(Boolean)
  return [{ name: '', path: '/' }, ...names.map((name, at) => ({ name, path: `/${names.slice(0, at + 1).join('/')}` }))]
}

/** Whether a path is another one or lies in it. */
export const isWithin = (path: string, folder: string): boolean =>
  path === folder || folder === '/' || path.startsWith(`${folder}/`)

/** `/Teamchat` and the folders of the rooms themselves: they follow the rooms and cannot be changed here. */
export const isFixed = (path: string): boolean => isWithin(path, ROOMS) && breadcrumbsOf(path).length <= 3

/** Whether something can be put into a folder: `/Teamchat` itself holds nothing but rooms. */
export const takesFiles = (folder: string): boolean => folder !== ROOMS

/** A name as its beginning and its ending: `a.tar.gz` is `a.tar` and `.gz`, `.profile` has no ending. */
export function splitName(name: string): [beginning: string, ending: string] {
  const dot = name.lastIndexOf('.')
  return dot <= 0 ? [name, ''] : [name.slice(0, dot), name.slice(dot)]
}

/** A name that nobody has yet: `plan.txt`, `plan (2).txt`. Upper and lower case count as the same. */
export function freeName(name: string, taken: Iterable<string>): string {
  const known = new Set([...taken].map((one) => one.toLowerCase()))
  const [beginning, ending] = splitName(name)
  let free = name
  for (let number = 2; known.has(free.toLowerCase()); number++) free = `${beginning} (${number})${ending}`
  return free
}
