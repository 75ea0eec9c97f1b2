import { sep } from 'node:path'

/** The local path of an absolute path of the account, below the synchronised folder. */
export const toLocalPath = (root: string, path: string): string =>
  path === '/' ? root : root + (sep === '/' ? path : path.replaceAll('/', sep))
