import { mkdir, stat } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { errorCode } from '../base/errors.ts'

/**
 * Makes a folder with those above it. Throws errors of the system: ENOENT, EEXIST where the path is something else, ENOTDIR
 * where one above it is. Node's recursive `mkdir` never ends where the file system answers ENOENT for a new entry, as /proc does.
 */
export async function makeFolder(path: string, mode = 0o777): Promise<void> {
  const missing: string[] = []
  for (let at = resolve(path); ; at = dirname(at)) {
    const found = await stat(at).catch((error: unknown) => {
      if (errorCode(error) !== 'ENOENT' || at === dirname(at)) throw error
    })
    if (found?.isDirectory()) break
    // As mkdir has it.
    const code = missing.length === 0 ? 'EEXIST' : 'ENOTDIR'
    if (found) throw Object.assign(new Error(`${code}: ${at} is not a folder`), { code })
    missing.push(at)
  }
  for (const folder of missing.reverse()) {
    await mkdir(folder, { mode }).catch((error: unknown) => {
      // Somebody else may have made it meanwhile.
      if (errorCode(error) !== 'EEXIST') throw error
    })
  }
}
