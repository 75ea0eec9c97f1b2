import type { SqliteHandle } from '../../../src/host/sqlite-engine.ts'
import type { Attack } from './attack.ts'

/** An attempt of one client to deny service to others. */
export interface Scenario {
  name: string
  /** Inserts data of the attacker before the server starts. */
  seed?(database: SqliteHandle, user: number, size: Attack['size']): void
  run(attack: Attack): Promise<void>
  /** Must match every outcome: "200", "413 too_large", "no answer". */
  allowed: RegExp
  /** Must match at least one outcome; otherwise the scenario did not reach its target. */
  reached: RegExp
}
