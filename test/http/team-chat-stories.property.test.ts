import fc from 'fast-check'
import { beforeAll, describe, expect, test } from 'vitest'
import { teamChat } from '../../src/contract/team-chat.ts'
import type { Account, Change } from '../support/account.ts'
import { channelOf, reactTo, say } from '../support/chat.ts'
import { forgetMessageDeletions } from '../../src/domain/instance/message-deletions.ts'
import { rowsMissingFromFeed, unexpectedChanges } from '../../src/storage/instance/feed-check.ts'
import { explores } from '../support/explores.ts'
import { serverOfFile } from '../support/server.ts'

// Random stories of one room, told to devices that read the feed now and then, compared with a model: each device gets the last change
// of every row that its user sees, once, in the order of the room, however members come and go.

const { edit, delete: remove, invite, leave, remove_participant, rename_room, delete_room } = teamChat.actions

const server = await serverOfFile()

/** People of a story; the first one opened the room and stays. */
const PEOPLE = 4
/** Members who only make a room large. */
const SILENT = 33
const silent: Account[] = []
beforeAll(async () => {
  for (let index = 0; index < SILENT; index += 1) silent.push(await server.account())
})

const kinds = [
  'send',
  'edit',
  'remove',
  'react',
  'rename',
  'invite',
  'leave',
  'dismiss',
  'read',
  'page',
  'begin',
  'forget',
] as const
const weights: Partial<Record<(typeof kinds)[number], number>> = {
  send: 6,
  edit: 2,
  remove: 2,
  invite: 2,
  read: 4,
  page: 2,
}

interface Step {
  kind: (typeof kinds)[number]
  who: number
  which: number
}

const step: fc.Arbitrary<Step> = fc.record({
  kind: fc.oneof(...kinds.map((kind) => ({ weight: weights[kind] ?? 1, arbitrary: fc.constant(kind) }))),
  who: fc.nat(PEOPLE - 1),
  which: fc.nat(20),
})

const assertEqual = (what: string, found: unknown, wanted: unknown) => expect(found, what).toEqual(wanted)
const assertAbove = (position: number, before: number) => expect(position, 'positions increase').toBeGreaterThan(before)

/** What a device must be told: rows in the order of their last change, and what is there. */
class Device {
  readonly account: Account
  cursor = 0
  /** Rows as the device was told them. */
  rows = new Map<string, Record<string, unknown>>()
  /** Rows that changed since the device last read to the end, the last change last. */
  #due = new Set<string>()
  /** Rows that left the sight of the user since then; if they come back, they begin anew. */
  #ended = new Set<string>()
  /** Rows that this device was told since then. */
  #told: string[] = []

  constructor(account: Account) {
    this.account = account
  }

  touch(...keys: string[]): void {
    for (const key of keys) {
      this.#due.delete(key)
      this.#due.add(key)
    }
  }

  /** The user left the room. */
  end(...keys: string[]): void {
    this.touch(...keys)
    for (const key of keys) this.#ended.add(key)
  }

  #take({ table, operation, data, cursor }: Change): void {
    assertAbove(cursor, this.cursor)
    this.cursor = cursor
    const key = `${table} ${data.id}`
    // A row that came and went since the last page ends without having been there.
    if (operation === 'DELETE' && !this.rows.has(key)) return
    if (operation === 'INSERT' && !this.#ended.has(key)) assertEqual('a row begins once', this.rows.has(key), false)
    this.#told = [...this.#told.filter((one) => one !== key), key]
    if (operation === 'DELETE') this.rows.delete(key)
    else this.rows.set(key, data)
  }

  /** Reads one page. Returns whether there is more. */
  async page(limit: number): Promise<boolean> {
    const page = await this.account.delta(this.cursor, { limit })
    page.changes.forEach((change) => this.#take(change))
    assertAbove(page.cursor, this.cursor - 1)
    this.cursor = page.cursor
    return page.has_more
  }

  /** Reads to the end, and compares what the device was told with what happened. */
  async read(seen: ReadonlyMap<string, string | undefined>): Promise<void> {
    const before = new Set(this.rows.keys())
    while (await this.page(100));
    const due = [...this.#due].filter((key) => seen.has(key) || before.has(key) || this.#told.includes(key))
    assertEqual('each row that changed, once, in order', this.#told, due)
    this.#forget()
    this.compare(seen)
    assertEqual('nothing twice', (await this.account.delta(this.cursor)).changes, [])
  }

  /** Forgets everything, as a device that was reset. */
  async begin(seen: ReadonlyMap<string, string | undefined>): Promise<void> {
    const { data, cursor } = await this.account.everything()
    this.cursor = cursor
    const all = ['svc_rooms', 'svc_messages'].flatMap((table) =>
      data[table]!.map((row) => [`${table} ${row.id}`, row] as const),
    )
    this.rows = new Map(all)
    this.#forget()
    this.compare(seen)
  }

  #forget(): void {
    this.#due = new Set()
    this.#ended = new Set()
    this.#told = []
  }

  compare(seen: ReadonlyMap<string, string | undefined>): void {
    const text = (key: string) => String(this.rows.get(key)![key.startsWith('svc_rooms') ? 'name' : 'content'])
    assertEqual(
      'what is there',
      new Map([...this.rows.keys()].sort().map((key) => [key, text(key)])),
      new Map([...seen].sort()),
    )
  }
}

/** The room as its members should see it, and the devices of the people. */
class Story {
  readonly devices: Device[]
  readonly #room: number
  readonly #inside: Set<number>
  /** Messages by key, oldest first. */
  readonly #texts = new Map<string, string>()
  readonly #authors = new Map<string, number>()
  #name = 'Engines'
  #serial = 0

  constructor(devices: Device[], room: number, inside: number[]) {
    this.devices = devices
    this.#room = room
    this.#inside = new Set(inside)
    for (const person of inside) devices[person]!.touch(this.#key)
  }

  get #key(): string {
    return `svc_rooms ${this.#room}`
  }

  seenBy(person: number): Map<string, string> {
    return this.#inside.has(person) ? new Map([[this.#key, this.#name], ...this.#texts]) : new Map()
  }

  #touch(key: string): void {
    for (const person of this.#inside) this.devices[person]!.touch(key)
  }

  async play({ kind, who, which }: Step): Promise<void> {
    const { account } = this.devices[who]!
    const room_id = this.#room
    const device = this.devices[who]!
    if (kind === 'read') return device.read(this.seenBy(who))
    if (kind === 'page') return void (await device.page(1 + (which % 5)))
    // As with the retention over: nobody may miss a deletion for it.
    if (kind === 'forget')
      return void (await forgetMessageDeletions(server.database, Number.MAX_SAFE_INTEGER, server.clock.now()))
    if (kind === 'begin') return device.begin(this.seenBy(who))
    if (kind === 'invite') {
      const guest = which % PEOPLE
      if (!this.#inside.has(who) || this.#inside.has(guest)) return
      await account.ask(invite, { room_id, user_ids: [this.devices[guest]!.account.id] })
      this.#inside.add(guest)
      return this.devices[guest]!.touch(this.#key, ...this.#texts.keys())
    }
    if (!this.#inside.has(who)) return
    if (kind === 'leave' && who !== 0) {
      await account.ask(leave, { room_id })
      return this.#end(who)
    }
    if (kind === 'dismiss' && who !== 0) {
      await this.devices[0]!.account.ask(remove_participant, { room_id, user_id: account.id })
      return this.#end(who)
    }
    if (kind === 'rename') {
      this.#name = `Name ${(this.#serial += 1)}`
      await this.devices[0]!.account.ask(rename_room, { room_id, name: this.#name })
      return this.#touch(this.#key)
    }
    if (kind === 'send') {
      const text = `text ${(this.#serial += 1)}`
      const key = `svc_messages ${(await say(account, room_id, text)).message_id}`
      this.#texts.set(key, text)
      this.#authors.set(key, who)
      return this.#touch(key)
    }
    return this.#change(kind, account, which)
  }

  /** Changes one of the messages, as its author if that is needed. */
  async #change(kind: Step['kind'], account: Account, which: number): Promise<void> {
    const key = [...this.#texts.keys()][which % Math.max(1, this.#texts.size)]
    if (key === undefined) return
    const message_id = Number(key.split(' ')[1])
    const author = this.#authors.get(key)!
    if (kind === 'react') return void (await reactTo(account, message_id, '👍'))
    if (!this.#inside.has(author)) return
    if (kind === 'edit') {
      const content = `text ${(this.#serial += 1)}`
      await this.devices[author]!.account.ask(edit, { message_id, content })
      this.#texts.set(key, content)
      this.#touch(key)
    }
    if (kind === 'remove') {
      await this.devices[author]!.account.ask(remove, { message_id })
      this.#texts.delete(key)
      this.#touch(key)
    }
  }

  async deleteRoom(): Promise<void> {
    await this.devices[0]!.account.ask(delete_room, { room_id: this.#room })
    for (const person of this.#inside) this.#end(person)
  }

  #end(person: number): void {
    this.devices[person]!.end(...this.#texts.keys(), this.#key)
    this.#inside.delete(person)
  }
}

/** Whether the examination of the storage finds nothing wrong with the feeds. */
async function expectSound(): Promise<void> {
  for (const table of ['svc_rooms', 'svc_messages']) {
    expect(await rowsMissingFromFeed(server.database.read, table, 1)).toEqual([])
    expect(await unexpectedChanges(server.database.read, table, 1)).toEqual([])
  }
}

async function tell(steps: readonly Step[], others: readonly Account[]): Promise<void> {
  server.clock.pass(60_000)
  const people: Account[] = []
  for (let index = 0; index < PEOPLE; index += 1) people.push(await server.account())
  const room = await channelOf(people[0]!, people[1]!, people[2]!, ...others)
  const { q } = server.database.read
  const { feed_stamp } = await q
    .selectFrom('rooms')
    .select('feed_stamp')
    .where('id', '=', room)
    .executeTakeFirstOrThrow()
  expect(feed_stamp !== null, 'the feeds of a large room take its changes over').toBe(others.length > 0)
  const story = new Story(
    people.map((person) => new Device(person)),
    room,
    [0, 1, 2],
  )
  for (const one of steps) await story.play(one)
  await expectSound()
  for (let who = 0; who < PEOPLE; who += 1) await story.play({ kind: 'read', who, which: 0 })
  await story.play({ kind: 'send', who: 0, which: 0 })
  await story.deleteRoom()
  for (let who = 0; who < PEOPLE; who += 1) await story.play({ kind: 'read', who, which: 0 })
}

describe.each([
  ['small', () => []],
  ['large', () => silent],
])('the feed of a %s room', (_, others) => {
  // Many runs on a busy machine take minutes.
  test(
    'tells every device what changed, once and in order, whoever joins and leaves',
    { timeout: 600_000 },
    async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 50 }), (steps) => tell(steps, others())),
        { numRuns: explores ? 20 : 4 },
      )
    },
  )
})
