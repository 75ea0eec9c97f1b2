import { randomUUID } from 'node:crypto'
import { syncData } from '../../../src/contract/sync-data.ts'
import { teamChat } from '../../../src/contract/team-chat.ts'
import { clientOf, type Client } from '../../support/account.ts'
import { sha256Of } from '../../support/contents.ts'
import type { Random } from '../../support/random.ts'
import type { Reply } from '../../support/request.ts'
import { nothingShown, show, type Asked, type Shown } from './recorded.ts'
import type { Servers } from './servers.ts'

/** What an outage may lead to; anything else fails the test. */
const AWAY = new Set([502, 503])
/** How often a device repeats a request before it leaves it alone. */
const TRIES = 40
/** How long a device waits for an answer; ms. */
const PATIENCE = 20_000
/** How long a request waits for a change; seconds. */
const WAIT = 55
/** One in so many answers is lost on its way. */
const LOST = 12

interface Row {
  [column: string]: unknown
  id: number
  version: number
}

export interface DeviceOptions {
  servers: Servers
  random: Random
  token: string
  room: number
  asked: Asked
  /** Contents that all devices upload. */
  contents: readonly Buffer[]
  /** The paths that only this device writes. */
  paths: readonly string[]
  /** The note that all devices of the account append to. */
  list: number
}

/** A device that writes and follows the feed through servers that come and go. */
export class Device {
  shown: Shown = nothingShown()
  readonly #options: DeviceOptions
  /** The furthest position that it was told. */
  #known = 0
  #epoch: string | undefined

  constructor(options: DeviceOptions) {
    this.#options = options
  }

  /** Sends a request through one server after the other; undefined if none answers in time. */
  async #send(request: (client: Client) => Promise<Reply>): Promise<Reply | undefined> {
    const { servers, random, token } = this.#options
    let isLost = random.below(LOST) === 0
    for (let count = 0; count < TRIES; count += 1) {
      const reply = await request(clientOf(servers.any(random), token)).catch(() => undefined)
      if (reply && !AWAY.has(reply.status)) {
        if (!isLost) return reply
        isLost = false
      }
      await new Promise((resolve) => setTimeout(resolve, 50 + random.below(200)))
    }
    return undefined
  }

  async #push(operation: Record<string, unknown>) {
    const signal = () => AbortSignal.timeout(PATIENCE)
    const operations = [{ op_id: randomUUID(), ...operation }]
    const reply = await this.#send((client) => client.call(syncData.actions.push, { operations }, { signal: signal() }))
    if (!reply) return undefined
    if (reply.status !== 200) throw new Error(`A push was answered with ${reply.status}: ${reply.bytes.toString()}`)
    const pushed = reply.json as unknown as {
      results: { ok: boolean; status: string; current?: Row }[]
      cursor: number
    }
    this.#known = Math.max(this.#known, pushed.cursor)
    return pushed.results[0]!
  }

  async note(title: string): Promise<void> {
    const { notes } = this.#options.asked
    notes.set(title, 'asked')
    const result = await this.#push({ operation: 'INSERT', table: 'svc_notes', data: { title } })
    if (result?.ok) notes.set(title, 'acknowledged')
    else if (result) throw new Error(`The note ${title} was refused: ${result.status}`)
  }

  /** Appends an item to the note that all devices change, on whatever others appended. */
  async append(item: string): Promise<void> {
    const { asked, list } = this.#options
    const { items } = asked
    items.set(item, 'asked')
    let row = (this.shown.rows.get(`svc_notes ${list}`) as Row | undefined) ?? { id: list, version: 1, content: '' }
    for (;;) {
      const content = `${String(row['content'] ?? '')}${item} `
      const change = { operation: 'UPDATE', table: 'svc_notes', data: { id: list, content }, base_version: row.version }
      const result = await this.#push(change)
      if (!result) return
      if (result.ok) return void items.set(item, 'acknowledged')
      if (result.status !== 'conflict') throw new Error(`The item ${item} was refused: ${JSON.stringify(result)}`)
      row = result.current!
    }
  }

  async say(content: string): Promise<void> {
    const { asked, room } = this.#options
    asked.messages.set(content, 'asked')
    const message = { room_id: room, content, client_id: content }
    const reply = await this.#send((client) =>
      client.call(teamChat.actions.send, message, { signal: AbortSignal.timeout(PATIENCE) }),
    )
    if (!reply) return
    if (reply.status !== 200) throw new Error(`A message was answered with ${reply.status}: ${reply.bytes.toString()}`)
    asked.messages.set(content, 'acknowledged')
  }

  async upload(): Promise<void> {
    const { random, paths, contents, asked } = this.#options
    const path = random.of(paths)
    const bytes = random.of(contents)
    const file = asked.files.get(path) ?? { acknowledged: undefined, asked: new Set<string>() }
    asked.files.set(path, file)
    const sha256 = sha256Of(bytes)
    file.asked.add(sha256)
    const reply = await this.#send((client) => client.upload(path, bytes))
    if (!reply) return
    if (reply.status !== 200) throw new Error(`An upload was answered with ${reply.status}: ${reply.bytes.toString()}`)
    file.acknowledged = sha256
    file.asked.clear()
  }

  /** Reads the feed once, through any server. Returns whether there is more. */
  async follow(wait = 0): Promise<boolean> {
    const { cursor } = this.shown
    const known = this.#known
    const since = { cursor, limit: 50, wait, ...(this.#epoch !== undefined && { epoch: this.#epoch }) }
    const reply = await this.#send((client) =>
      client.call(syncData.actions.delta, since, { signal: AbortSignal.timeout(PATIENCE) }),
    )
    if (!reply) return true
    if (reply.json['code'] === 'epoch_mismatch') {
      this.#startOver()
      return true
    }
    if (reply.status !== 200) throw new Error(`The feed answered ${reply.status}: ${reply.bytes.toString()}`)
    const page = reply.json as unknown as Parameters<typeof show>[1] & { epoch: string }
    this.#epoch = page.epoch
    show(this.shown, page, known)
    this.#known = Math.max(this.#known, page.cursor)
    return page.has_more
  }

  /** Forgets what a server showed that went back since. */
  #startOver(): void {
    this.shown = nothingShown()
    this.#known = 0
    this.#epoch = undefined
  }

  /** Whether a request that waits is answered because of a change, long before its time is over. */
  async isWokenBy(change: () => Promise<void>): Promise<boolean> {
    const { servers, random, token } = this.#options
    for (;;) {
      const { cursor } = this.shown
      const client = clientOf(servers.any(random), token)
      const signal = AbortSignal.timeout(PATIENCE)
      const waiting = client.call(syncData.actions.delta, { cursor, wait: WAIT }, { signal }).catch(() => undefined)
      await new Promise((resolve) => setTimeout(resolve, 100))
      await change()
      const reply = await waiting
      if (!reply || !AWAY.has(reply.status)) return reply?.status === 200
      while (await this.follow());
    }
  }
}
