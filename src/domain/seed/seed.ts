import { normalName } from '../accounts/accounts.ts'
import { planAccounts } from './accounts-part.ts'
import { readSeed } from './check.ts'
import { planComponents } from './components-part.ts'
import { planFiles } from './files-part.ts'
import {
  meet,
  type SeedContext,
  type Item,
  type Part,
  type Planning,
  type Sources,
  type Watcher,
  type SeedOptions,
} from './seed-context.ts'
import { BadSeed, type Problem } from './problems.ts'
import { planRooms } from './rooms-part.ts'
import { planRows } from './rows-part.ts'
import { planApps, planSettings } from './server-part.ts'

export {
  SourceError,
  type Found,
  type Item,
  type Made,
  type Sources,
  type Watcher,
  type SeedOptions,
} from './seed-context.ts'
export { BadSeed, nameOf } from './problems.ts'
export { seedSchema } from './seed-schema.ts'

/** What a seed would do to the server as it is. */
export interface Plan {
  items: Item[]
  /** Things of the seed that are there already, as it says. */
  unchanged: number
  /** How many passwords the seed holds in plain text. */
  plainPasswords: number
  /** User names of those for whom a token is wanted; making it is up to whoever has a safe place for it. */
  tokens: string[]
  /** Does it. Interrupted anywhere, the same seed again completes it. */
  apply(watcher?: Partial<Watcher>): Promise<void>
}

export interface Seeding {
  /**
   * Compares a seed with the server, and changes nothing. Throws `BadSeed` with everything that is wrong with it: nothing
   * of a seed is put into effect unless all of it can be.
   */
  plan(document: unknown, sources: Sources, options?: SeedOptions): Promise<Plan>
}

const PARTS = [planSettings, planApps, planAccounts, planRows, planComponents, planFiles, planRooms] as const

/** Accounts, settings, apps, rooms, rows and files from one document, safe to repeat. */
export const makeSeeding = (ground: SeedContext): Seeding => ({
  async plan(document, sources, options = {}) {
    const problems: Problem[] = []
    const seed = readSeed(document, problems)
    const planning: Planning = { ...ground, seed, sources, options, people: await meet(ground, seed), problems }
    const parts: Part[] = []
    for (const plan of PARTS) parts.push(await plan(planning))
    if (problems.length > 0) throw new BadSeed(problems)
    const items = parts.flatMap((part) => part.items)
    return {
      items,
      unchanged: parts.reduce((sum, part) => sum + part.unchanged, 0),
      plainPasswords: seed.users.filter(({ value }) => value.password !== undefined).length,
      tokens: seed.users.flatMap(({ value }) => (value.token ? normalName(value.username) : [])),
      async apply({ done = () => undefined, made = () => undefined } = {}) {
        for (const part of parts) await part.apply({ done, made })
        if (items.some(({ action }) => action !== 'keep')) await record(ground, items)
      },
    }
  },
})

/** Tells the audit log what a seed did, in numbers. */
function record({ database, audit }: SeedContext, items: readonly Item[]): Promise<void> {
  const detail: Record<string, number> = {}
  for (const { action, kind } of items) {
    const name = `${kind}_${action}`
    if (action !== 'keep') detail[name] = (detail[name] ?? 0) + 1
  }
  return database.write((tx) => audit.record(tx, { kind: 'seed.applied', detail }))
}
