import type { Clock } from '../../base/clock.ts'
import type { Api } from '../api.ts'
import type { Account } from '../auth/credentials.ts'
import { flush, pull, type Line } from '../replica/exchange.ts'
import { replicaFile, rememberAccount } from '../replica/replica-file.ts'
import { openReplica } from '../replica/replica.ts'
import { readEverything, readPage, InvalidRows } from '../replica/row-decoding.ts'
import type { NoticeCode, RowTally } from './report/events.ts'
import type { Throttle } from '../http/throttle.ts'
import type { Registered } from './state/root.ts'
import type { Skipped } from './plan/sync-tree.ts'

interface Parts {
  stateFolder: string
  registered: Registered
  account: Account
  api: Api
  throttle: Throttle
  clock: Clock
  signal: AbortSignal
  notice: (code: NoticeCode, message: string) => void
}

/** Stands in for a path when all rows are skipped. */
const ROWS = 'rows'
const POSTPONED = 'Changes of rows are queued, because the server accepts none right now'

/** Collects and reports why rows were skipped. */
function makeSkippedRows(notice: Parts['notice']) {
  const skipped: Skipped[] = []
  return {
    skipped: (): readonly Skipped[] => skipped,
    leaveAlone(code: 'rows_unsound' | 'rows_waiting', sentence: string, { message }: Error): void {
      notice(code, `${sentence}: ${message}`)
      skipped.push({ path: ROWS, code, detail: message })
    },
  }
}

/** The account's rows during a run. They follow the same feed as the files and use the same replica as `svc data`. */
export type ReplicaSync = ReturnType<typeof openReplicaSync>

export function openReplicaSync({ stateFolder, registered, account, api, throttle, clock, signal, notice }: Parts) {
  const { server_id, user_id } = registered
  const owner = { server_id, user_id }
  const { copy, damaged } = openReplica(replicaFile(stateFolder, owner), owner, clock)
  const before = copy.count()
  const line: Line = { api, throttle, signal }
  let [sent, received] = [0, 0]
  const { skipped, leaveAlone } = makeSkippedRows(notice)
  if (damaged) {
    notice(
      'rows_damaged',
      `The rows kept on this machine were damaged and are downloaded again; ${damaged.kept} of the queued changes could be read. The damaged file is ${damaged.file}.`,
    )
  }

  async function send(): Promise<void> {
    if (copy.count().waiting === 0) return
    const { postponed, ...flushed } = await flush(line, copy, { mayPostpone: true })
    sent += flushed.sent
    if (postponed) leaveAlone('rows_waiting', POSTPONED, postponed)
  }

  /** Invalid rows do not keep files from being synchronised. */
  async function apart(work: () => Promise<void>): Promise<void> {
    try {
      await work()
    } catch (error) {
      if (!(error instanceof InvalidRows)) throw error
      leaveAlone('rows_unsound', 'Rows were skipped', error)
    }
  }

  return {
    /** Remembers the account, and sends queued changes. */
    push: (): Promise<void> =>
      apart(async () => {
        await rememberAccount(stateFolder, account, owner, clock.now())
        await send()
      }),
    /** Whether rows were never downloaded: then one response brings rows and files. */
    areNew: (): boolean => copy.place() === undefined,
    /** The feed position of the rows in an epoch; undefined if they do not follow the feed. */
    cursor(epoch: string): number | undefined {
      const at = copy.place()
      return at?.epoch === epoch ? at.cursor : undefined
    },
    /** Applies a feed page requested after `since`; invalid pages are requested again. */
    learn(answer: unknown, since: number): void {
      try {
        received += copy.learn(readPage(answer, since, api.url), since)
      } catch (error) {
        if (!(error instanceof InvalidRows)) throw error
      }
    },
    /** Stores the rows of an initial response. */
    begin(answer: unknown): void {
      try {
        if (!copy.place()) copy.begin(readEverything(answer, api.url))
      } catch (error) {
        if (!(error instanceof InvalidRows)) throw error
      }
    },
    /** Ensures that the rows are as new as the files. */
    catchUp: ({ cursor, epoch }: { cursor: number; epoch: string }): Promise<void> =>
      apart(async () => {
        const at = copy.place()
        if (at?.epoch === epoch && at.cursor >= cursor) return
        const pulled = await pull(line, copy)
        received += pulled.received
        // Rows that the server lost are sent back at once.
        if (pulled.restored) await send()
      }),
    tally(): RowTally {
      const { waiting, conflicts, refused } = copy.count()
      return {
        sent,
        received,
        waiting,
        conflicts,
        refused,
        new_rejected: Math.max(0, conflicts + refused - before.conflicts - before.refused),
      }
    },
    skipped,
    close: (): void => copy.close(),
  }
}
