import type { Api } from '../../client/api.ts'
import type { Account } from '../../client/auth/credentials.ts'
import type { Change, Waiting } from '../../client/replica/replica-records.ts'
import type { Replica } from '../../client/replica/replica.ts'
import type { Line } from '../../client/replica/exchange.ts'
import type { Outcome } from '../../client/rows/operation.ts'
import { pluralize } from '../../base/counts.ts'
import { formatDuration } from '../../base/durations.ts'
import { printable } from '../../base/text.ts'
import { flag, type Globals } from '../command.ts'
import { Exit, usage } from '../exit.ts'
import type { Io } from '../io.ts'
import { retryOptions } from '../retry-options.ts'
import { errorMessage } from '../error-message.ts'
import type { AccountIdentity } from '../../client/auth/account-identity.ts'

/** The result of a change: the server's, or `queued` if the server was not reached. */
export type ChangeResult = Omit<Outcome, 'status'> & { status: Outcome['status'] | 'queued' }

export const connectionFlags = {
  offline: flag.switch('do not contact the server: use the local replica and queue changes'),
  online: flag.switch('fail if the server does not answer'),
}

interface Context {
  io: Io
  globals: Globals
  api: Api
  account: Account
  flags: { offline: boolean; online: boolean }
}

/** Milliseconds without a byte before the server counts as unreachable; short, because there is a replica. */
const TIMEOUT = 20_000

export interface RowAccess {
  copy: Replica
  /** Updates the replica, or prints how old it is. */
  fresh(): Promise<void>
  /** Applies changes to the replica and sends or queues them; results in the same order. */
  send(changes: readonly Change[], onBatch?: (changes: number) => void): Promise<ChangeResult[]>
}

export async function withRows<T>(context: Context, use: (rows: RowAccess) => Promise<T>): Promise<T> {
  const { io, globals, account, api, flags } = context
  if (flags.offline && flags.online) throw usage('--offline and --online are opposites: give one of them.')
  const { userFolder } = await import('../../host/user-folders.ts')
  const { systemClock } = await import('../../base/clock.ts')
  const { replicaFile, knownAccount, rememberAccount } = await import('../../client/replica/replica-file.ts')
  const { openReplica } = await import('../../client/replica/replica.ts')
  const { withRetryIfUnknown } = await import('../../client/http/request-retry.ts')
  const stateFolder = userFolder('state', globals.env)
  const retry = retryOptions(io)
  const line: Line = { api, throttle: (_, request) => withRetryIfUnknown(request, retry), timeout: TIMEOUT }
  const known = await knownAccount(stateFolder, account)
  if (!known && flags.offline) {
    throw new Exit(7, 'No rows of this account are stored on this machine: leave out --offline once.', 'unknown_here')
  }
  const owner = known ?? (await ownerOf(line))
  const { copy, damaged } = openReplica(replicaFile(stateFolder, owner), owner, systemClock)
  try {
    if (!known) await rememberAccount(stateFolder, account, owner, systemClock.now())
    if (damaged) {
      const kept =
        damaged.kept === 0
          ? 'no queued change could be read from it'
          : `${damaged.kept} of the queued changes were kept`
      io.warn(
        `The rows on this machine were damaged and are downloaded again; ${kept}. The damaged file is ${damaged.file}.`,
      )
    }
    return await use(await makeRowAccess(context, copy, line))
  } catch (error) {
    // Another server answers at this address: ask again which account the token belongs to.
    if ((error as { reason?: unknown }).reason === 'other_account') {
      await rememberAccount(stateFolder, account, undefined, systemClock.now())
    }
    throw error
  } finally {
    copy.close()
  }
}

async function ownerOf({ api, throttle }: Line): Promise<AccountIdentity> {
  const { identify } = await import('../../client/auth/account-identity.ts')
  const { server_id, user_id } = await throttle({ limit: 'none' }, () => identify(api))
  return { server_id, user_id }
}

async function makeRowAccess({ io, flags }: Context, copy: Replica, line: Line): Promise<RowAccess> {
  const { systemClock } = await import('../../base/clock.ts')
  const { flush, pull } = await import('../../client/replica/exchange.ts')
  const { isTemporary } = await import('../../client/http/connectivity.ts')

  const age = (): string => {
    const { asked } = copy.place()!
    return `as of ${formatDuration(systemClock.now() - asked)} ago`
  }
  const warnOfRejected = (rejected: number): void => {
    if (rejected > 0) io.warn(`${rejected} of the queued changes could not be applied: svc sync conflicts shows them.`)
  }

  async function exchange(): Promise<void> {
    const { rejected, postponed } = await flush(line, copy, { mayPostpone: true })
    warnOfRejected(rejected)
    const { restored } = await pull(line, copy)
    if (postponed) io.info(`${printable(errorMessage(postponed))} The rows are current${pending(copy)}.`)
    if (restored)
      io.warn('The server was restored from a backup: rows that it lost are sent again. See svc sync conflicts.')
  }

  return {
    copy,
    async fresh() {
      if (flags.offline) {
        if (!copy.place()) throw noRowsHere()
        return io.info(`The server was not contacted: rows ${age()}${pending(copy)}.`)
      }
      try {
        await exchange()
      } catch (error) {
        if (flags.online || !isTemporary(error) || !copy.place()) throw error
        io.info(`${printable(errorMessage(error))} Rows ${age()}${pending(copy)}.`)
      }
    },
    async send(changes, onBatch) {
      const waiting = enqueue(copy, changes, flags.offline)
      const outcomes = new Map<number, Outcome>()
      if (flags.offline)
        io.info(
          `The server was not contacted: svc sync or the next svc data sends ${changes.length === 1 ? 'it' : 'them'}.`,
        )
      else {
        const awaited = new Set(waiting.flatMap((each) => (each ? [each.seq] : [])))
        try {
          const { rejected } = await flush(line, copy, { awaited, outcomes, ...(onBatch ? { onBatch } : {}) })
          warnOfRejected(rejected)
          if (!copy.place()) await pull(line, copy)
        } catch (error) {
          await handleUnsent(error, waiting, outcomes)
        }
      }
      return waiting.map((each, index) => resultOf(copy, changes[index]!, each, each && outcomes.get(each.seq)))
    },
  }

  /** Handles changes without a response. */
  async function handleUnsent(
    error: unknown,
    waiting: readonly (Waiting | undefined)[],
    outcomes: Map<number, Outcome>,
  ) {
    const open = waiting.filter((each) => each !== undefined && !outcomes.has(each.seq)) as Waiting[]
    // Only the server knows whether a row exists that the replica does not have.
    const unknownRows = open.filter(({ verb, before, row }) => verb !== 'INSERT' && row > 0 && before === null)
    if (isTemporary(error) && !flags.online && unknownRows.length === 0) {
      return io.info(
        `${printable(errorMessage(error))} ${open.length === 1 ? 'The change is queued' : 'Changes are queued'}: svc sync or the next svc data sends ${open.length === 1 ? 'it' : 'them'}.`,
      )
    }
    if (outcomes.size > 0)
      io.warn(`${outcomes.size} of ${waiting.length} changes were sent; repeat the command to send the rest.`)
    const stuck = copy.withdraw(open.map(({ seq }) => seq))
    if (stuck.length > 0)
      io.warn('It is unknown whether the server applied the change. The next svc sync or svc data finds out.')
    throw error
  }
}

const pending = (copy: Replica): string => {
  const { waiting } = copy.count()
  return waiting === 0 ? '' : `, with ${pluralize(waiting, 'change')} not sent to the server yet`
}

const noRowsHere = (): Exit =>
  new Exit(7, 'No rows are stored on this machine yet: leave out --offline once.', 'unknown_here')

function enqueue(copy: Replica, changes: readonly Change[], isOffline: boolean): (Waiting | undefined)[] {
  try {
    return copy.change(changes, isOffline)
  } catch (error) {
    if (error instanceof Error && error.name === 'NoSuchRow') throw new Exit(5, error.message, 'not_found')
    throw error
  }
}

function resultOf(
  copy: Replica,
  change: Change,
  waiting: Waiting | undefined,
  outcome: Outcome | undefined,
): ChangeResult {
  if (outcome) return outcome
  const { table, verb: operation } = change
  const common = { index: 0, table, operation, version: null, ...(waiting ? { op_id: waiting.op_id } : {}) }
  const id = waiting ? copy.idOf(waiting.row) : change.row!
  if (waiting && copy.waits(waiting.seq)) return { ...common, ok: true, status: 'queued', id }
  const rejectedChange = waiting && copy.rejectedOf(waiting.op_id)
  if (rejectedChange) {
    const status = rejectedChange.kind === 'conflict' ? 'conflict' : 'error'
    return { ...common, ok: false, status, id, code: rejectedChange.code, error: rejectedChange.message }
  }
  // Another process sent it, or it was removed from the queue.
  const version = copy.row(table, id)?.['version']
  return { ...common, ok: true, status: 'applied', id, version: typeof version === 'number' ? version : null }
}
