import { LATEST_MTIME } from '../contract/limits.ts'

/**
 * A modification time in whole seconds since the epoch, of a server or of a local file; one that the wire cannot say (not a number, before
 * 1970, the year 300000) tells nothing of the file and is undefined.
 */
export function knownTime(seconds: unknown): number | undefined {
  if (typeof seconds !== 'number') return undefined
  const whole = Math.floor(seconds)
  return whole >= 0 && whole <= LATEST_MTIME ? whole : undefined
}
