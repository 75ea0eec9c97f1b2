import { existsSync, realpathSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'

/** The path with links resolved, also of a file or folder that does not exist yet. */
export const realPathOf = (path: string): string =>
  existsSync(path) || dirname(path) === path ? realpathSync(path) : join(realPathOf(dirname(path)), basename(path))
