import { setTimeout as sleep } from 'node:timers/promises'
import { auditKinds, kindsLike } from '../../domain/instance/audit-kinds.ts'
import type { Audit, StoredEntry } from '../../domain/instance/instance.ts'
import { command, flag } from '../command.ts'
import { usage } from '../exit.ts'
import type { Io } from '../io.ts'
import { formatTime, parseTime } from '../time-format.ts'
import { detailText, documentOf, lineOf } from './entry.ts'

const DEFAULT_LIMIT = 50
const POLL_MS = 1_000
/** Entries read at a time while following. */
const BATCH = 1_000
/** IDs below the newest at which an entry may still appear: its transaction began before those that ended first. */
const LATE = 200

const width = Math.max(...Object.keys(auditKinds).map((kind) => kind.length))
const kindTable = Object.entries(auditKinds)
  .map(([kind, meaning]) => `  ${kind.padEnd(width)}  ${meaning}`)
  .join('\n')

export const audit = command({
  name: 'audit',
  summary: 'Show who did what: logins, devices, accounts, administration',
  details:
    'Shows the newest entries, the last one at the end. --user finds what a user did and what was done to them. Commands of administrators ' +
    `are recorded as cli:<user id of the system>. Entries are kept for a year. With --json --follow each line is one entry.\n\nKinds:\n${kindTable}`,
  needs: 'domain',
  onlyPrints: true,
  args: {},
  flags: {
    follow: flag.switch('keep printing new entries until interrupted', { short: 'f' }),
    user: flag.text('only what this user did, or what was done to them', 'NAME'),
    kind: flag.many('only this kind, or a prefix such as login.*; can be repeated', 'KIND'),
    since: flag.text('only from this time on: 24h, 15:00 or 2026-11-21T15:00', 'WHEN'),
    until: flag.text('only before this time', 'WHEN'),
    limit: flag.integer(`maximum number of entries (${DEFAULT_LIMIT})`, 'N', 1, 1_000_000),
  },
  examples: [
    'svc audit',
    'svc audit --user ada --since 7d',
    "svc audit --follow --kind 'login.*'",
    'svc audit --since 24h --json',
  ],
  async run({ io, domain: { instance }, flags }) {
    const { systemClock } = await import('../../base/clock.ts')
    if (flags.follow && flags.until !== undefined) throw usage('--follow has no end: leave out --until.')
    const now = systemClock.now()
    const filter = {
      ...(flags.kind.length > 0 && { kinds: kindsOf(flags.kind) }),
      ...(flags.user !== undefined && { user: flags.user.toLowerCase() }),
      ...(flags.since !== undefined && { since: timeFlag('since', flags.since, now) }),
      ...(flags.until !== undefined && { until: timeFlag('until', flags.until, now) }),
    }
    if (flags.follow) return follow(io, instance.audit, filter, flags.limit ?? 10)
    const entries = (await instance.audit.list({ ...filter, limit: flags.limit ?? DEFAULT_LIMIT })).reverse()
    io.table(
      entries,
      [
        { title: 'TIME', value: ({ at }) => formatTime(at, true) },
        { title: 'KIND', value: ({ kind }) => kind },
        { title: 'WHO', value: ({ actor }) => actor },
        { title: 'WHOM', value: ({ target }) => target ?? '' },
        { title: 'ADDRESS', value: ({ ip }) => ip ?? '' },
        { title: 'DETAILS', value: detailText },
      ],
      'There are no such entries.',
      entries.map(documentOf),
    )
    return undefined
  },
})

/** The kinds that match these patterns. Exit 2 for a pattern without a match. */
function kindsOf(patterns: readonly string[]): string[] {
  const kinds = patterns.flatMap((pattern) => {
    const found = kindsLike(pattern)
    if (found.length === 0)
      throw usage(`There are no entries of the kind "${pattern}": svc audit --help shows all kinds.`)
    return found
  })
  return [...new Set(kinds)]
}

function timeFlag(name: string, text: string, now: number): number {
  const moment = parseTime(text, now, 'back')
  if (moment === undefined)
    throw usage(
      `--${name} must be a duration such as 24h, a time such as 15:00, or a date such as 2026-11-21T15:00, not "${text}".`,
    )
  return moment
}

type Filter = Omit<Parameters<Audit['list']>[0], 'limit'>

/** Prints the last entries, then new ones as they are written. */
async function follow(io: Io, log: Audit, filter: Filter, last: number): Promise<never> {
  const show = (entry: StoredEntry) => io.event(lineOf(entry), documentOf(entry))
  let after = await log.newest()
  const seen = new Set((await log.after(after - LATE, LATE)).map(({ id }) => id))
  for (const entry of (await log.list({ ...filter, limit: last })).reverse()) {
    if (entry.id > after) continue
    seen.add(entry.id)
    show(entry)
  }
  for (;;) {
    await sleep(POLL_MS)
    for (;;) {
      const entries = await log.after(after - LATE, BATCH)
      for (const entry of entries) {
        if (!seen.has(entry.id) && isWanted(entry, filter)) show(entry)
        seen.add(entry.id)
      }
      after = Math.max(after, entries.at(-1)?.id ?? 0)
      for (const id of seen) if (id <= after - LATE) seen.delete(id)
      if (entries.length < BATCH) break
    }
  }
}

const isWanted = ({ kind, actor, target }: StoredEntry, { kinds, user }: Filter): boolean =>
  (kinds === undefined || kinds.includes(kind)) && (user === undefined || actor === user || target === user)
