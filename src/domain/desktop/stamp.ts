import { iso } from '../../base/clock.ts'

/** The time of components and profiles as the specification writes it: `YYYY-MM-DD HH:MM:SS`, UTC. */
export const stamp = (ms: number): string => iso(ms).slice(0, 19).replace('T', ' ')
