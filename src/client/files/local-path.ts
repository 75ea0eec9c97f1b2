import { sep } from 'node:path'

export const toLocalPath = (root: string, path: string): string =>
  path === '/' ? root : root + (sep === '/' ? path : path.replaceAll('/', sep))
