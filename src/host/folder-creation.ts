import { mkdir, stat } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { errorCode } from '../base/errors.ts'

/**
 * Creates a folder and its missing parents. Throws ENOENT, EEXIST if the path is not a folder, or ENOTDIR if a parent
 * is not one. Node's recursive `mkdir` loops forever where the file system answers ENOENT for a new entry, as /proc
 * does, and throws ENOENT where the disk is full.
 */
export async function makeFolder(path: string, mode = 0o777): Promise<void> {
  const missing: string[] = []
  for (let at = resolve(path); ; at = dirname(at)) {
    const found = await stat(at).catch((error: unknown) => {
      if (errorCode(error) !== 'ENOENT' || at === dirname(at)) throw error
    })
    if (found?.isDirectory()) break
    // As mkdir throws it.
    const code = missing.length === 0 ? 'EEXIST' : 'ENOTDIR'
    if (found) throw Object.assign(new Error(`${code}: ${at} is not a folder`), { code })
    missing.push(at)
  }
  for (const folder of missing.reverse()) {
    await mkdir(folder, { mode }).catch((error: unknown) => {
      // Another process may have created it meanwhile.
      if (errorCode(error) !== 'EEXIST') throw error
    })
  }
}
