import { readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { DAY } from '../base/clock.ts'
import { randomHex } from '../base/random.ts'
import { processScope } from './process-identity.ts'
import { isRunning } from './process-status.ts'

// A large file is written into a folder of the user, which has no locks: the name of an unfinished one says what it is, and identifies
// its writer.

/** What is written. */
type Kind = 'archive' | 'download'

const NAME = /^\.svc-(archive|download)-([0-9a-f]{12})-(\d{1,10})-[0-9a-f]{12}\.tmp$/

/** A writer touches its file all the time: one from another machine or container untouched for this long is abandoned. */
const ABANDONED = DAY

/** A new name for a file being written, which tells `clearUnfinished` who writes it. */
export const unfinishedName = (kind: Kind): string =>
  `.svc-${kind}-${processScope()}-${process.pid}-${randomHex(6)}.tmp`

/** Removes files of a kind that killed processes left in a folder; never those being written. */
export async function clearUnfinished(folder: string, kind: Kind, now: number): Promise<void> {
  for (const name of await readdir(folder)) {
    const [, found, scope, pid] = NAME.exec(name) ?? []
    if (found !== kind) continue
    const path = join(folder, name)
    const isGone = scope === processScope() && !isRunning(Number(pid))
    // Files of other users cannot be removed, and remain.
    if (isGone || (await isAbandoned(path, now))) await rm(path, { force: true }).catch(() => undefined)
  }
}

const isAbandoned = (path: string, now: number): Promise<boolean> =>
  stat(path).then(
    ({ mtimeMs }) => now - mtimeMs > ABANDONED,
    () => false,
  )
