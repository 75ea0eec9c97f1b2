import type { Clock } from '../../base/clock.ts'
import { isFault } from '../../contract/errors.ts'
import type { Api } from '../api.ts'
import type { Account } from '../credentials.ts'
import { flush, pull, type Line } from '../replica/exchange.ts'
import { replicaFile, rememberAccount } from '../replica/replica-file.ts'
import { openReplica } from '../replica/replica.ts'
import { readEverything, readPage, InvalidRows } from '../replica/decode.ts'
import type { NoticeCode, RowTally } from './report/events.ts'
import type { Throttle } from '../http/throttle.ts'
import type { Registered } from './state/root.ts'
import type { Skipped } from './plan/tree.ts'

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

/** Collects and reports why rows were skipped. */
function makeLeftAlone(notice: Parts['notice']) {
  const skipped: Skipped[] = []
  return {
    skipped: (): readonly Skipped[] => skipped,
    leaveAlone(code: 'rows_unsound' | 'rows_waiting', sentence: string, { message }: Error): void {
      notice(code, `${sentence}: ${message}`)
      skipped.push({ path: ROWS, code, detail: message })
    },
  }
}

/** The account's rows during a run: they follow the same feed as its files, and wait in the same file as for `svc data`. */
export type ReplicaSync = ReturnType<typeof openReplicaSync>

export function openReplicaSync({ stateFolder, registered, account, api, throttle, clock, signal, notice }: Parts) {
  const { server_id, user_id } = registered
  const owner = { server_id, user_id }
  const { copy, damaged } = openReplica(replicaFile(stateFolder, owner), owner, clock)
  const before = copy.count()
  const line: Line = { api, throttle, signal }
  let [sent, received] = [0, 0]
  const { skipped, leaveAlone } = makeLeftAlone(notice)
  if (damaged) {
    notice(
      'rows_damaged',
      `The rows kept on this machine were damaged and are fetched anew; of what waited ${damaged.kept} could be read. The damaged file is ${damaged.file}.`,
    )
  }

  async function send(): Promise<void> {
    if (copy.count().waiting === 0) return
    try {
      sent += (await flush(line, copy)).sent
    } catch (error) {
      // Changes may be refused while reading goes on.
      if (!isFault(error, 'maintenance')) throw error
      leaveAlone('rows_waiting', 'Changes of rows wait here, because the server takes none at the moment', error)
    }
  }

  /** Invalid rows do not keep files from being synchronised. */
  async function apart(work: () => Promise<void>): Promise<void> {
    try {
      await work()
    } catch (error) {
      if (!(error instanceof InvalidRows)) throw error
      leaveAlone('rows_unsound', 'Rows were left alone', error)
    }
  }

  return {
    /** Remembers whose account it is, and sends what waits. */
    push: (): Promise<void> =>
      apart(async () => {
        await rememberAccount(stateFolder, account, owner, clock.now())
        await send()
      }),
    /** Whether nothing was ever fetched of them: then all of it comes in one answer, with the files. */
    areNew: (): boolean => copy.place() === undefined,
    /** Where the rows stand in the feed of an epoch; undefined when they do not follow it. */
    cursor(epoch: string): number | undefined {
      const at = copy.place()
      return at?.epoch === epoch ? at.cursor : undefined
    },
    /** Takes in a page of the feed that was asked for after `since`; what is not sound is asked for again. */
    learn(answer: unknown, since: number): void {
      try {
        received += copy.learn(readPage(answer, since, api.url), since)
      } catch (error) {
        if (!(error instanceof InvalidRows)) throw error
      }
    },
    /** Takes in the rows that came with an answer of all. */
    begin(answer: unknown): void {
      try {
        if (!copy.place()) copy.begin(readEverything(answer, api.url))
      } catch (error) {
        if (!(error instanceof InvalidRows)) throw error
      }
    },
    /** Makes sure that the rows are as new as the files. */
    catchUp: ({ cursor, epoch }: { cursor: number; epoch: string }): Promise<void> =>
      apart(async () => {
        const at = copy.place()
        if (at?.epoch === epoch && at.cursor >= cursor) return
        const pulled = await pull(line, copy)
        received += pulled.received
        // A server that lost rows gets them back at once.
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
