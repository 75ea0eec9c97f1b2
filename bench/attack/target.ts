import type { Description } from './operations.ts'

/** The account of the attacker. Only its own data may be damaged. */
export interface Attacker {
  id: number
  username: string
  token: string
  cookie: string
  csrf: string
  /** Ids of its own content, by parameter name. */
  own: Record<string, unknown>
}

/** Fingerprint of protected data; equal texts mean no change. */
export interface State {
  /** The attacker's own data. */
  own: string
  /** Another user's data. */
  other: string
}

/** The attacked server, with a user whose data must not be visible. */
export interface Target {
  url: string
  description: Description
  /** A new account with some content. */
  newcomer(role: 'user' | 'admin'): Promise<Attacker>
  /** Ids of another user's content. */
  foreign: readonly number[]
  /** A text in all content of the other user, and nowhere else. */
  canary: string
  /** Texts that no response may contain: paths of the program and its data. */
  places: readonly string[]
  /** Changes with every commit. */
  commits(): number
  state(attacker: Attacker): State
  /** Log entries that indicate a bug, or contain credentials or contents; undefined if there are none. */
  logged(): string | undefined
}
