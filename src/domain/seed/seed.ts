import { normalName } from '../accounts/accounts.ts'
import { planAccounts } from './accounts-part.ts'
import { readSeed } from './check.ts'
import { planComponents } from './components-part.ts'
import { planFiles } from './files-part.ts'
import {
  resolvePeople,
  type SeedContext,
  type Item,
  type Part,
  type Planning,
  type Sources,
  type SeedProgress,
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
  type SeedProgress,
  type SeedOptions,
} from './seed-context.ts'
export { BadSeed, nameOf } from './problems.ts'
export { seedSchema } from './seed-schema.ts'

/** The changes that a seed would make. */
export interface Plan {
  items: Item[]
  /** Items that exist as described. */
  unchanged: number
  plainPasswords: number
  /** User names that need a token; the caller creates it and stores it safely. */
  tokens: string[]
  /** Applies the plan. After an interruption, applying the same seed again completes it. */
  apply(watcher?: Partial<SeedProgress>): Promise<void>
}

export interface Seeding {
  /** Changes nothing. Throws `BadSeed` with all errors: a seed is applied only if all of it is valid. */
  plan(document: unknown, sources: Sources, options?: SeedOptions): Promise<Plan>
}

const PARTS = [planSettings, planApps, planAccounts, planRows, planComponents, planFiles, planRooms] as const

/** Accounts, settings, apps, rooms, rows and files from one document; can be repeated safely. */
export const makeSeeding = (ground: SeedContext): Seeding => ({
  async plan(document, sources, options = {}) {
    const problems: Problem[] = []
    const seed = readSeed(document, problems)
    const planning: Planning = {
      ...ground,
      seed,
      sources,
      options,
      people: await resolvePeople(ground, seed),
      problems,
    }
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

/** Writes the numbers of a run to the audit log. */
function record({ database, audit }: SeedContext, items: readonly Item[]): Promise<void> {
  const detail: Record<string, number> = {}
  for (const { action, kind } of items) {
    const name = `${kind}_${action}`
    if (action !== 'keep') detail[name] = (detail[name] ?? 0) + 1
  }
  return database.write('instance', (tx) => audit.record(tx, { kind: 'seed.applied', detail }))
}
