import type { Local } from '../local.ts'

export type Health = 'ok' | 'warning' | 'failure'

/** What one check found. */
export interface Finding {
  /** Stays the same over versions: for scripts. */
  id: string
  health: Health
  found: string
  /** What to do about it. */
  remedy?: string
  /** Repairs it, where that is safe. */
  fix?: () => Promise<void>
}

/** Looks at one thing of an installation. What it throws is a bug, or a disk or store that does not answer. */
export interface Check {
  id: string
  /** What it makes sure of, in a few words. */
  summary: string
  look(local: Local): Promise<Omit<Finding, 'id'>>
}

export const fine = (found: string): Omit<Finding, 'id'> => ({ health: 'ok', found })
export const warning = (found: string, remedy: string): Omit<Finding, 'id'> => ({ health: 'warning', found, remedy })
export const failure = (found: string, remedy: string): Omit<Finding, 'id'> => ({ health: 'failure', found, remedy })
