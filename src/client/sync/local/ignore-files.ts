import { closeSync, fstatSync, lstatSync, openSync, readFileSync } from 'node:fs'
import { errorCode } from '../../../base/errors.ts'
import { UNTRUSTED } from '../../../host/regular-file.ts'
import type { IgnoreRules } from './ignore-rules.ts'
import { childOf } from '../plan/sync-tree.ts'
import { Refused } from '../../refused.ts'
import { toLocalPath } from '../../files/local-path.ts'
import { IGNORE_FILE } from '../plan/reserved-paths.ts'

const MAX_BYTES = 1_048_576

/**
 * Reads the rules in a folder; false if the folder cannot be entered. Throws `Refused` for unreadable rules, because
 * ignoring them would upload what they protect.
 */
export function readRules(rules: IgnoreRules, root: string, folder: string): boolean {
  const path = childOf(folder, IGNORE_FILE)
  const refuse = (why: string): Refused =>
    new Refused('rules', `${toLocalPath(root, path)} ${why}, so it is unknown what it ignores. Nothing was changed.`)
  let file: number
  try {
    file = openSync(toLocalPath(root, path), UNTRUSTED)
  } catch (error) {
    const code = errorCode(error)
    if (['ENOENT', 'ENOTDIR'].includes(code)) return true
    if (isOutOfReach(toLocalPath(root, path))) return false
    throw refuse(code === 'ELOOP' ? 'is a symbolic link' : `cannot be read (${code})`)
  }
  try {
    const stats = fstatSync(file)
    // A folder of that name is a folder like any other.
    if (stats.isDirectory()) return true
    if (!stats.isFile()) throw refuse('is not a file')
    if (stats.size > MAX_BYTES) throw refuse('is larger than 1 MB')
    rules.add(folder, readFileSync(file, 'utf8'))
    return true
  } finally {
    closeSync(file)
  }
}

/** Whether a path is unknown because its parent folder cannot be entered. */
function isOutOfReach(place: string): boolean {
  try {
    lstatSync(place)
    return false
  } catch (error) {
    return !['ENOENT', 'ENOTDIR'].includes(errorCode(error))
  }
}
