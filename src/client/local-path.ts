import { sep } from 'node:path'

/** The place of a path of the tree on this machine. */
export const toLocalPath = (root: string, path: string): string =>
  path === '/' ? root : root + (sep === '/' ? path : path.replaceAll('/', sep))
