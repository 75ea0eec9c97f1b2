import { sortedEntries } from '../../base/sorted-entries.ts'
import type { TableName } from '../../contract/tables.ts'
import { rememberSeeded, seededAmong, type Seeded } from '../../storage/instance/seeded.ts'
import { pauseForOthers } from '../heavy.ts'
import { insertRowsIn, rowVersion, updateRowIn } from '../sync/sync.ts'
import { hashOf, personOf, seededBefore } from './seed-context.ts'
import type { Item, Part, Person, Planning, SeedProgress } from './seed-context.ts'
import type { SeedRow } from './seed-schema.ts'

interface Task {
  person: Person
  table: TableName
  key: string
  values: Record<string, unknown>
  hash: string
  /** The record of the row to change; undefined for a new one. */
  before: Seeded | undefined
}

const ROW = 'row'

/** Rows per commit: enough to share index writes, few enough not to block others. */
const GROUP = 200

const keyOf = (table: string, key: string): string => `${table}/${key}`

/** Hash of a row, independent of the order of columns. */
const hashOfRow = (values: Record<string, unknown>): string => hashOf(sortedEntries(values))

/** Created once, and updated when the seed changes, unless someone else has changed the row. */
export async function planRows(planning: Planning): Promise<Part> {
  const items: Item[] = []
  const tasks: Task[] = []
  let unchanged = 0
  for (const { value: user } of planning.seed.users) {
    const person = personOf(planning, user)
    for (const [table, rows] of Object.entries(user.rows ?? {}) as [TableName, SeedRow[]][]) {
      for (const { key, ...values } of rows) {
        const task = taskFor(person, table, key, values)
        if (!task) unchanged += 1
        else if (!task.before) {
          tasks.push(task)
          items.push({ action: 'add', kind: 'row', text: `row ${keyOf(table, key)} of ${person.username}` })
        } else {
          const item = await decide(planning, task as Task & { before: Seeded })
          if (item.action === 'change') tasks.push(task)
          items.push(item)
        }
      }
    }
  }
  return { items, unchanged, apply: (watcher) => apply(planning, tasks, watcher) }
}

/** The change of a row; undefined if the seed is unchanged. */
function taskFor(person: Person, table: TableName, key: string, values: Task['values']): Task | undefined {
  const hash = hashOfRow(values)
  const before = seededBefore(person, ROW, keyOf(table, key))
  return before?.hash === hash ? undefined : { person, table, key, values, hash, before }
}

/** The action for a row that was seeded before and differs now. */
async function decide(
  { database }: Planning,
  { person, table, key, before }: Task & { before: Seeded },
): Promise<Item> {
  const text = `row ${keyOf(table, key)} of ${person.username}`
  const version = await rowVersion(database.read, person.id!, table, before.target!)
  if (version === undefined) return { action: 'keep', kind: 'row', text: `${text}: was removed` }
  if (version !== before.version) return { action: 'keep', kind: 'row', text: `${text}: was changed by its owner` }
  return { action: 'change', kind: 'row', text }
}

async function apply(planning: Planning, tasks: readonly Task[], watcher: SeedProgress): Promise<void> {
  const byPerson = new Map<Person, Task[]>()
  for (const task of tasks) {
    const others = byPerson.get(task.person)
    if (others) others.push(task)
    else byPerson.set(task.person, [task])
  }
  for (const [person, own] of byPerson) {
    for (let first = 0; first < own.length; first += GROUP) {
      const group = own.slice(first, first + GROUP)
      if (first > 0) await pauseForOthers()
      await write(planning, person.id!, group)
      watcher.done(group.length)
    }
  }
}

function write({ database, clock }: Planning, user: number, group: readonly Task[]): Promise<void> {
  return database.write('instance', async (tx) => {
    const now = clock.now()
    const keys = group.filter(({ before }) => !before).map(({ table, key }) => keyOf(table, key))
    // Another run of the same seed may have created some of them.
    const taken = keys.length > 0 ? await seededAmong(tx, user, ROW, keys) : new Set<string>()
    const fresh = group.filter(({ before, table, key }) => !before && !taken.has(keyOf(table, key)))
    const ids = fresh.length > 0 ? await insertRowsIn(tx, user, fresh, now) : []
    const entries: Seeded[] = fresh.map(({ table, key, hash }, index) => ({
      kind: ROW,
      key: keyOf(table, key),
      hash,
      target: ids[index]!,
      version: 1,
    }))
    for (const { table, key, values, hash, before } of group) {
      if (!before || (await rowVersion(tx, user, table, before.target!)) !== before.version) continue
      const version = await updateRowIn(tx, user, { table, id: before.target!, values }, now)
      entries.push({ kind: ROW, key: keyOf(table, key), hash, target: before.target, version })
    }
    await rememberSeeded(tx, user, entries)
  })
}
