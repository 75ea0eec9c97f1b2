import { iso } from '../../base/clock.ts'
import type { Passphrases, Seeking } from '../../wiring/backups/backup-locations.ts'
import { Exit } from '../exit.ts'
import { formatTime } from '../time-format.ts'

/** Refuses a moment that the stream does not hold, for example because it was not running. */
export function assertExact({ at, shortfall }: { at?: number | undefined; shortfall?: string | undefined }): void {
  if (at === undefined || shortfall === undefined) return
  throw new Exit(5, `${shortfall} To return to the last state before that: --to ${iso(at)}.`, 'not_found')
}

/** Adds to the error about a moment before the stream, or without one, the newest backup before it. */
export async function withNearest(
  error: unknown,
  to: string,
  lookup: Seeking,
  passphrases: Passphrases,
): Promise<never> {
  if ((error as Error).name !== 'NoSuchMoment') throw error
  const moment = lookup.momentOf?.(to)?.at ?? Date.now()
  const { listBackups } = await import('../../wiring/backups/backup-locations.ts')
  const { manifests } = await listBackups(lookup, passphrases)
  const before = manifests.findLast(({ created_at }) => Date.parse(created_at) <= moment)
  const [first] = manifests
  const { message } = error as Error
  const time = (created_at: string): string => formatTime(Date.parse(created_at), true)
  const nearest = before
    ? `The newest backup before that moment is of ${time(before.created_at)}: --to ${before.id}.`
    : first
      ? `The oldest backup is of ${time(first.created_at)}: --to ${first.id}.`
      : 'There is no backup either.'
  // The message may end with a command.
  throw new Exit(5, `${message}\n${nearest}`, 'not_found')
}
