import type { Description } from './operations.ts'

/** An account that attacks: everything it owns may break, nothing else may. */
export interface Attacker {
  id: number
  username: string
  token: string
  cookie: string
  csrf: string
  /** Values under which its own things are found, by the name of the parameter. */
  own: Record<string, unknown>
}

/** What is protected, as it is at a moment; equal texts mean that nothing changed. */
export interface State {
  /** The attacker's own things. */
  own: string
  /** Those of somebody else. */
  other: string
}

/** A service that is attacked, with somebody in it whose things are not to be seen. */
export interface Target {
  url: string
  description: Description
  /** A new account, with a few things of its own. */
  newcomer(role: 'user' | 'admin'): Promise<Attacker>
  /** Numbers under which things of somebody else are found. */
  foreign: readonly number[]
  /** Stands in everything of somebody else, and nowhere else. */
  canary: string
  /** Texts that no answer may hold: where the program and its data lie. */
  places: readonly string[]
  /** Changes with every commit. */
  commits(): number
  state(attacker: Attacker): State
  /** Entries of the log that tell of a bug, and credentials or contents in it; undefined when the log is clean. */
  logged(): string | undefined
}
