import { LATEST_MTIME } from '../../contract/limits.ts'

/** In whole seconds since the epoch; undefined if the API cannot represent it (before 1970, the year 300000). */
export function knownTime(seconds: unknown): number | undefined {
  if (typeof seconds !== 'number') return undefined
  const whole = Math.floor(seconds)
  return whole >= 0 && whole <= LATEST_MTIME ? whole : undefined
}
