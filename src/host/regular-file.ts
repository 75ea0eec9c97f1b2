import { accessSync, closeSync, constants, fstatSync, openSync, readFileSync, statSync, type Stats } from 'node:fs'
import { open } from 'node:fs/promises'

// Without O_NONBLOCK, opening a named pipe waits for a writer. Windows has neither this flag nor O_NOFOLLOW.
const FLAGS = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0)

/** Flags to open a file of untrusted origin: never waits for a pipe, and throws ELOOP for a link. The caller checks the kind. */
export const UNTRUSTED = FLAGS | (constants.O_NOFOLLOW ?? 0)

/** System errors of a read through a file handle do not name the file. */
function assertRegular(path: string, stats: Stats): void {
  if (stats.isFile()) return
  const code = stats.isDirectory() ? 'EISDIR' : 'EFTYPE'
  throw Object.assign(new Error(`${code}: not a regular file, open '${path}'`), { code, path })
}

/** Throws unless the file is readable and writable or missing. Opening it would release SQLite's locks when it is closed. */
export function assertUsable(path: string): void {
  const stats = statSync(path, { throwIfNoEntry: false })
  if (!stats) return
  assertRegular(path, stats)
  accessSync(path, constants.R_OK | constants.W_OK)
}

/** Reads a text file. Anything but a regular file is refused at once, with an error that names it. */
export async function readRegularFile(path: string): Promise<string> {
  const file = await open(path, FLAGS)
  try {
    assertRegular(path, await file.stat())
    return await file.readFile('utf8')
  } finally {
    await file.close()
  }
}

/** The same for callers that cannot wait. */
export function readRegularFileSync(path: string): string {
  const file = openSync(path, FLAGS)
  try {
    assertRegular(path, fstatSync(file))
    return readFileSync(file, 'utf8')
  } finally {
    closeSync(file)
  }
}
