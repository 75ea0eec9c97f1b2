import type { Clock } from '../../base/clock.ts'
import { fault } from '../../contract/errors.ts'
import type { Database, Writer } from '../../storage/engine/database.ts'
import { settingsVersion, storedSettings, storeSetting } from '../../storage/instance/settings.ts'
import { isOption, options, variableOf, type Option, type OptionName, type Values } from './options.ts'

export type Source = 'flag' | 'environment' | 'config.json' | 'database' | 'default'

/** What was read at start: values given by flags, environment and file, which win over stored ones. */
export interface Given {
  values: Partial<Values>
  sources: Partial<Record<OptionName, Source>>
}

/** Maintenance as an administrator declared it. Times are epoch milliseconds. */
export interface Maintenance {
  message: string
  until: number | null
  /** Everybody may sign in and read, and only administrators may change anything. */
  read_only: boolean
}

interface State {
  version: string
  /** Secrets stand in it masked. */
  values: Values
  secrets: Partial<Record<OptionName, () => string>>
  sources: Record<OptionName, Source>
  maintenance: Maintenance | undefined
}

const names = Object.keys(options) as OptionName[]
const MAINTENANCE = '#maintenance'

/** What stands for a secret that is set. */
const MASK = '********'

/** How secrets are stored: only this installation can read them, and only under their name. */
export interface Sealing {
  seal(name: string, text: string): string
  /** Throws when the key is another one. */
  unseal(name: string, sealed: string): string
}

function assemble(version: string, stored: Map<string, string>, given: Given, sealing: Sealing): State {
  const sources = {} as Record<OptionName, Source>
  const secrets: State['secrets'] = {}
  const values = Object.fromEntries(
    names.map((name) => {
      const text = stored.get(name)
      sources[name] = given.sources[name] ?? (text === undefined ? 'default' : 'database')
      const value: unknown = given.values[name] ?? (text === undefined ? options[name].standard : JSON.parse(text))
      if (!(options[name] as Option).secret || value === '') return [name, value]
      // A secret that cannot be opened stops what needs it, not all the rest.
      secrets[name] = () => (given.values[name] === undefined ? sealing.unseal(name, String(value)) : String(value))
      return [name, MASK]
    }),
  ) as Values
  return { version, values, secrets, sources, maintenance: declaredIn(stored) }
}

function declaredIn(stored: Map<string, string>): Maintenance | undefined {
  const text = stored.get(MAINTENANCE)
  return text === undefined ? undefined : { read_only: false, ...(JSON.parse(text) as Omit<Maintenance, 'read_only'>) }
}

/** Maintenance with an end is over by itself. */
const unlessOver = (maintenance: Maintenance | undefined, now: number): Maintenance | undefined =>
  maintenance && maintenance.until !== null && maintenance.until <= now ? undefined : maintenance

/** One request asks for settings several times; within this time it gets the same answer without asking the database. */
const FRESH_MS = 5

/** The settings in force. What an admin command changes holds for the next request of every process. */
export function makeSettings(database: Database, given: Given, clock: Clock, sealing: Sealing) {
  let state: State | undefined
  let askedAt = -Infinity

  async function current(): Promise<State> {
    if (state && performance.now() - askedAt < FRESH_MS) return state
    const version = await settingsVersion(database.read)
    if (state?.version !== version) state = assemble(version, await storedSettings(database.read), given, sealing)
    askedAt = performance.now()
    return state
  }

  return {
    /** Every value; secrets masked. */
    async values(): Promise<Values> {
      return (await current()).values
    },

    /** What outside the database says the value of an option, in words, and wins; undefined where the database does. */
    async decidedIn(name: OptionName): Promise<string | undefined> {
      const source = (await current()).sources[name]
      if (source === 'database' || source === 'default') return undefined
      if (source === 'flag') return 'a flag of svc serve'
      return source === 'environment' ? `the environment variable ${variableOf(name)}` : source
    },

    /** A secret as it is; empty when it is not set. Throws when it was sealed with another key. */
    async secret(name: OptionName): Promise<string> {
      return (await current()).secrets[name]?.() ?? ''
    },

    /** Every option with its value and where it comes from; secrets masked. */
    async list(): Promise<{ name: OptionName; value: unknown; shown: string; source: Source; option: Option }[]> {
      const { values, sources } = await current()
      return names.map((name) => {
        const option = options[name] as Option
        const shown = option.secret ? String(values[name]) : option.kind.show(values[name])
        return { name, value: values[name], shown, source: sources[name], option }
      })
    },

    /**
     * Stores the value of a live option, or forgets it, in one transaction with what goes with it. Fault `not_found` for an
     * unknown one.
     */
    async store(name: string, value: unknown, unit?: (tx: Writer) => Promise<void>): Promise<void> {
      if (!isOption(name) || !options[name].live) throw fault('not_found')
      const isSealed = (options[name] as Option).secret && value !== undefined && value !== ''
      const stored = isSealed ? sealing.seal(name, String(value)) : value
      await database.write(async (tx) => {
        await storeSetting(tx, name, stored === undefined ? undefined : JSON.stringify(stored))
        await unit?.(tx)
      })
      askedAt = -Infinity
    },

    /**
     * Changes the stored value of a live option from what it was, in one transaction with what goes with it: two who change
     * it at once both have their way. A value that stays the same is not written.
     */
    async revise<N extends OptionName, T>(
      name: N,
      unit: (tx: Writer, before: Values[N]) => Promise<{ value: Values[N]; result: T }>,
    ): Promise<T> {
      const revised = await database.write(async (tx) => {
        const text = (await storedSettings(tx)).get(name)
        const before = (text === undefined ? options[name].standard : JSON.parse(text)) as Values[N]
        const { value, result } = await unit(tx, before)
        if (JSON.stringify(value) !== JSON.stringify(before)) await storeSetting(tx, name, JSON.stringify(value))
        return result
      })
      askedAt = -Infinity
      return revised
    },

    /** Maintenance in force, or undefined. */
    async maintenance(): Promise<Maintenance | undefined> {
      return unlessOver((await current()).maintenance, clock.now())
    },

    /**
     * Declares maintenance, or with undefined its end, in one transaction with what goes with it; `unit` is told what was
     * in force before.
     */
    async declare<T>(
      maintenance: Maintenance | undefined,
      unit: (tx: Writer, before: Maintenance | undefined) => Promise<T>,
    ): Promise<T> {
      const result = await database.write(async (tx) => {
        const before = unlessOver(declaredIn(await storedSettings(tx)), clock.now())
        await storeSetting(tx, MAINTENANCE, maintenance && JSON.stringify(maintenance))
        return unit(tx, before)
      })
      askedAt = -Infinity
      return result
    },
  }
}

export type Settings = ReturnType<typeof makeSettings>
