import type { Local } from '../local-domain.ts'

export type Health = 'ok' | 'warning' | 'failure'

/** The result of one check. */
export interface Finding {
  /** Stable over versions, for scripts. */
  id: string
  health: Health
  found: string
  /** How to fix it. */
  remedy?: string
  /** Fixes it, where that is safe. */
  fix?: () => Promise<void>
}

/** One check of an installation. An error means a bug, or a disk or store that does not answer. */
export interface Check<On = Local> {
  id: string
  /** What it checks, in a few words. */
  summary: string
  runChecks(on: On): Promise<Omit<Finding, 'id'>>
}

/** A check that needs no database. */
export type DirectoryCheck = Check<Pick<Local, 'directory' | 'config'>>

export const fine = (found: string): Omit<Finding, 'id'> => ({ health: 'ok', found })
export const warning = (found: string, remedy: string): Omit<Finding, 'id'> => ({ health: 'warning', found, remedy })
export const failure = (found: string, remedy: string): Omit<Finding, 'id'> => ({ health: 'failure', found, remedy })
