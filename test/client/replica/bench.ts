import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { makeApi, type Api } from '../../../src/client/api.ts'
import { makeNodeTransport } from '../../../src/client/http/node-transport.ts'
import { flush, pull, type Line } from '../../../src/client/replica/exchange.ts'
import type { Change } from '../../../src/client/replica/replica-records.ts'
import { openReplica, type Replica } from '../../../src/client/replica/replica.ts'
import type { Row } from '../../../src/client/rows/row-values.ts'
import { contract } from '../../../src/contract/contract.ts'
import { syncData } from '../../../src/contract/sync-data.ts'
import { isWritable, tables } from '../../../src/contract/tables.ts'
import type { Account } from '../../support/account.ts'

const NOW = Date.parse('2026-11-21T12:00:00Z')

function temporaryFolder(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'svc-rows-')))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** What happens to a request: it may throw before or after the server carried it out, or answer something else. */
export type Mischief = (action: string, params: Record<string, unknown>, go: () => Promise<unknown>) => Promise<unknown>

/** The rows of an account as one device keeps them. */
export interface Device {
  file: string
  copy: Replica
  line: Line
  /** Requests so far. */
  log: string[]
  mischief: Mischief | undefined
  /** Sends what waits and takes in what is new. */
  exchange(): Promise<void>
  change(...changes: Change[]): ReturnType<Replica['change']>
  /** As after a crash: what was not durable is gone. */
  reopen(): void
}

interface Options {
  api: Pick<Api, 'call' | 'url'>
  owner: { server_id: string; user_id: number }
}

export function makeDevice({ api, owner }: Options): Device {
  const file = join(temporaryFolder(), 'rows.db')
  const clock = { now: () => NOW }
  const open = () => openReplica(file, owner, clock).copy
  const device: Device = {
    file,
    copy: open(),
    log: [],
    mischief: undefined,
    line: {
      api: {
        ...api,
        call: (async (action: { name: string }, params: Record<string, unknown>) => {
          device.log.push(action.name)
          const go = () => api.call(action as never, params as never)
          return device.mischief ? device.mischief(action.name, params, go) : go()
        }) as Api['call'],
      } as Api,
      throttle: (_, request) => request(),
    },
    async exchange() {
      await flush(device.line, device.copy)
      await pull(device.line, device.copy)
    },
    change: (...changes) => device.copy.change(changes, true),
    reopen() {
      device.copy.close()
      device.copy = open()
    },
  }
  onTestFinished(() => device.copy.close())
  return device
}

/** A device of an account on a real server. */
export async function deviceOf(account: Account, url: string): Promise<Device> {
  const api = makeApi({ url, token: account.token, transport: makeNodeTransport() })
  onTestFinished(() => api.close())
  const { server_id } = await api.call(contract.syncStatus.actions.capabilities, {})
  return makeDevice({ api, owner: { server_id, user_id: account.id } })
}

/** Every row of the user's own, without times, by table. */
export function rowsOf(copy: Pick<Replica, 'rows'>): Record<string, Row[]> {
  const plain = ({ created_at: _c, updated_at: _u, ...row }: Row): Row => row
  const all = Object.keys(tables).map((table): [string, Row[]] => [
    table,
    copy
      .rows(table)
      .map(plain)
      .sort((a, b) => Number(a['id']) - Number(b['id'])),
  ])
  return Object.fromEntries(all.filter(([, rows]) => rows.length > 0))
}

/** The same as the server has it. */
export async function rowsOnServer(device: Device): Promise<Record<string, Row[]>> {
  const { data } = await device.line.api.call(syncData.actions.initial_sync, {})
  return rowsOf({ rows: (table) => (isWritable(table) ? (data[table] ?? []) : []) })
}

export const note = (title: string, more: Row = {}): Change => ({
  table: 'svc_notes',
  verb: 'INSERT',
  values: { title, ...more },
})
export const edit = (row: number, values: Row, more: Partial<Change> = {}): Change => ({
  table: 'svc_notes',
  verb: 'UPDATE',
  row,
  values,
  ...more,
})
export const removal = (row: number): Change => ({ table: 'svc_notes', verb: 'DELETE', row, values: {} })
