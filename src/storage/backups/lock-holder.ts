import type { ProcessIdentity } from '../../host/process-identity.ts'

/** Another process holds a conflicting lock. */
export class RepositoryBusy extends Error {
  override name = 'RepositoryBusy'
  readonly exitCode = 6
  readonly code = 'locked'
}

export const busy = ({ purpose, pid, host }: Holder): RepositoryBusy =>
  new RepositoryBusy(
    `The backups are in use: ${purpose}, process ${pid} on ${host}. Wait until it has ended, and run this again.`,
  )

/** Others may have used and changed the repository since the lock was lost. */
export class LostLock extends RepositoryBusy {
  constructor() {
    super('This run was paused too long and lost its lock on the backups: run it again.')
  }
}

/** Any number of `shared` holders add to the repository; one `exclusive` holder removes. */
export type LockKind = 'shared' | 'exclusive'

export interface RepositoryLock {
  id: string
  /** Throws `LostLock`, now and from then on, if others may have ignored the lock as stale, for example because this machine slept. */
  assertHeld(): Promise<void>
  release(): Promise<void>
}

export interface Holder extends ProcessIdentity {
  kind: LockKind
  purpose: string
}

/** Whether two holders exclude each other. */
export const excludes = (own: Holder, other: Holder): boolean => own.kind === 'exclusive' || other.kind === 'exclusive'
