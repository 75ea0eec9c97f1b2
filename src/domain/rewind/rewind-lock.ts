import { iso, SECOND, type Clock } from '../../base/clock.ts'
import type { Database, Writer } from '../../storage/engine/database.ts'
import {
  newRewindLock,
  putRewindRecord,
  rewindHolder,
  rewindRecord,
  type RewindRecord,
  type SavedState,
  type UnfinishedRewind,
} from '../../storage/instance/rewind-records.ts'

// One process at a time rewinds an account, and what it has begun is recorded until it is done.

export type { SavedState, UnfinishedRewind } from '../../storage/instance/rewind-records.ts'

const RENEW_EVERY = 30 * SECOND
/** Saved states that are remembered. */
const SAVES = 20

class RewindBusy extends Error {
  override name = 'RewindBusy'
  readonly exitCode = 6
  readonly code = 'locked'
}

interface Account {
  id: number
  username: string
  created_at: number
}

export interface RewindLock {
  token: string
  /** Throws `RewindBusy` if another process holds the lock now, for example because this machine slept. */
  assertHeld(tx: Writer): Promise<void>
  /** Records before the first change what is begun, and where the present state is saved. */
  begin(unfinished: Omit<UnfinishedRewind, 'started_at'>, save: SavedState): Promise<void>
  /** Records that nothing is half done. */
  finish(): Promise<void>
  release(): Promise<void>
}

const busyText = ({ username }: Account, { pid, host }: { pid: number; host: string }): string =>
  `${username} is being rewound by process ${pid} on ${host}. Wait until it has ended, and run this again.`

/** What is recorded about rewinds of an account. Throws `RewindBusy` while another process runs one. */
export async function rewindHistory(
  { database, clock }: { database: Database; clock: Clock },
  account: Account,
  own: RewindLock | undefined,
): Promise<Pick<RewindRecord, 'unfinished' | 'saves'>> {
  const record = await rewindRecord(database.read, account)
  const holder = rewindHolder(record, clock.now())
  if (holder && holder.token !== own?.token) throw new RewindBusy(busyText(account, holder))
  return record
}

/** Throws `RewindBusy` with the holder. */
export async function lockRewind(
  { database, clock }: { database: Database; clock: Clock },
  account: Account,
): Promise<RewindLock> {
  const own = newRewindLock(clock.now())
  const change = (make: (record: RewindRecord, tx: Writer) => RewindRecord) =>
    database.write({ accounts: [account.id], keys: [`rewind:${account.id}`] }, async (tx) =>
      putRewindRecord(tx, account, make(await rewindRecord(tx, account), tx)),
    )
  const held = (record: RewindRecord): RewindRecord => {
    if (record.lock?.token === own.token) return record
    throw new RewindBusy(`This run was paused too long and lost its lock on ${account.username}: run it again.`)
  }
  await change((record) => {
    const holder = rewindHolder(record, clock.now())
    if (holder) throw new RewindBusy(busyText(account, holder))
    return { ...record, lock: own }
  })
  const renew = () => change((record) => ({ ...held(record), lock: { ...own, touched_at: clock.now() } }))
  // A failure is noticed by the next change.
  const timer = setInterval(() => void renew().catch(() => undefined), RENEW_EVERY).unref()
  return {
    token: own.token,
    assertHeld: async (tx) => void held(await rewindRecord(tx, account)),
    begin: (unfinished, save) =>
      change((record) => ({
        ...held(record),
        unfinished: { ...unfinished, started_at: record.unfinished?.started_at ?? iso(clock.now()) },
        saves: [save, ...record.saves].slice(0, SAVES),
      })),
    finish: () => change((record) => ({ ...held(record), unfinished: undefined })),
    async release() {
      clearInterval(timer)
      await change((record) => (record.lock?.token === own.token ? { ...record, lock: undefined } : record))
    },
  }
}
