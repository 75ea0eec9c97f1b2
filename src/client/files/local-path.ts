import { sep } from 'node:path'

/** The local path of a path in the tree. */
export const toLocalPath = (root: string, path: string): string =>
  path === '/' ? root : root + (sep === '/' ? path : path.replaceAll('/', sep))
