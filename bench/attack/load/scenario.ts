import type { SqliteHandle } from '../../../src/host/sqlite-engine.ts'
import type { Attack } from './attack.ts'

/** Something by which one client could keep the service from everybody else. */
export interface Scenario {
  name: string
  /** Puts what the attacker owns into the database before the server runs. */
  seed?(database: SqliteHandle, user: number, size: Attack['size']): void
  run(attack: Attack): Promise<void>
  /** Every outcome matches this: "200", "413 too_large", "no answer". */
  allowed: RegExp
  /** At least one outcome matches this; else the scenario did not reach what it is about. */
  reached: RegExp
}
