import { iso } from '../../base/clock.ts'

/** The time format of components and profiles (contract): `YYYY-MM-DD HH:MM:SS`, UTC. */
export const formatTimestamp = (ms: number): string => iso(ms).slice(0, 19).replace('T', ' ')
