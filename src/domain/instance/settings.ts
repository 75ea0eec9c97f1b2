import type { Clock } from '../../base/clock.ts'
import { fault } from '../../contract/errors.ts'
import type { Database, Writer } from '../../storage/engine/database.ts'
import { settingsVersion, storedSettings, storeSetting } from '../../storage/instance/settings.ts'
import { isOption, options, variableOf, type Option, type OptionName, type Values } from './options.ts'

export type Source = 'flag' | 'environment' | 'config.json' | 'database' | 'default'

/** Values from flags, environment and file, read at start; they override stored ones. */
export interface Given {
  values: Partial<Values>
  sources: Partial<Record<OptionName, Source>>
}

/** Maintenance as declared by an administrator. Times are epoch ms. */
export interface Maintenance {
  message: string
  until: number | null
  /** Everyone may sign in and read; only administrators may change anything. */
  read_only: boolean
}

interface State {
  version: string
  /** Secrets are masked. */
  values: Values
  secrets: Partial<Record<OptionName, () => string>>
  sources: Record<OptionName, Source>
  maintenance: Maintenance | undefined
}

const names = Object.keys(options) as OptionName[]
const MAINTENANCE = '#maintenance'

const MASK = '********'

/** Encrypts secrets with the installation's key, bound to their name. */
export interface Sealing {
  seal(name: string, text: string): string
  /** Throws if the key is a different one. */
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
      // A secret that cannot be decrypted fails only where it is used.
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

/** Undefined after the end of the maintenance. */
const unlessOver = (maintenance: Maintenance | undefined, now: number): Maintenance | undefined =>
  maintenance && maintenance.until !== null && maintenance.until <= now ? undefined : maintenance

type Changes = readonly (readonly [name: string, value: unknown])[]

/** Changes of live options as they are stored, with secrets encrypted. Fault `not_found`. */
const storedTexts = (changes: Changes, sealing: Sealing) =>
  changes.map(([name, value]): [name: string, text: string | undefined] => {
    if (!isOption(name) || !options[name].live) throw fault('not_found')
    if (value === undefined) return [name, undefined]
    const isSealed = (options[name] as Option).secret && value !== ''
    return [name, JSON.stringify(isSealed ? sealing.seal(name, String(value)) : value)]
  })

/** Where an option is set outside the database; undefined if it is not. */
function overrideOf({ sources }: State, name: OptionName): Exclude<Source, 'database' | 'default'> | undefined {
  const source = sources[name]
  return source === 'database' || source === 'default' ? undefined : source
}

function describeOverride(state: State, name: OptionName): string | undefined {
  const source = overrideOf(state, name)
  if (source === 'flag') return 'an option of svc serve'
  return source === 'environment' ? `the environment variable ${variableOf(name)}` : source
}

const fixedIn = (state: State, wanted: readonly OptionName[]): { setting: OptionName; by: string }[] =>
  wanted.flatMap((setting) => {
    const source = overrideOf(state, setting)
    if (source === undefined) return []
    return [{ setting, by: source === 'environment' ? variableOf(setting) : source === 'flag' ? 'svc serve' : source }]
  })

/** Cache time, ms: one request reads settings several times. */
const FRESH_MS = 5

/** The current settings. Changes by a command apply to the next request in every process. */
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

  /** Describes what outside the database overrides an option; undefined if nothing does. */
  const decidedIn = async (name: OptionName): Promise<string | undefined> => describeOverride(await current(), name)

  async function storeSeveral(changes: Changes, unit?: (tx: Writer) => Promise<void>): Promise<void> {
    const stored = storedTexts(changes, sealing)
    await database.write('instance', async (tx) => {
      for (const [name, text] of stored) await storeSetting(tx, name, text)
      await unit?.(tx)
    })
    askedAt = -Infinity
  }

  return {
    /** Every value; secrets are masked. */
    async values(): Promise<Values> {
      return (await current()).values
    },

    decidedIn,

    /** Refuses with fault `conflict` if something outside the database overrides an option, which `what` says in words. */
    async assertChangeable(name: OptionName, what: string = name): Promise<void> {
      const where = await decidedIn(name)
      if (where !== undefined)
        throw fault('conflict', { text: `${what} is set in ${where}, which takes precedence: change it there.` })
    },

    /** A secret in plain text; empty if unset. Throws if it was encrypted with another key. */
    async secret(name: OptionName): Promise<string> {
      return (await current()).secrets[name]?.() ?? ''
    },

    /** Every option with its value and source; secrets are masked. */
    async list(): Promise<{ name: OptionName; value: unknown; shown: string; source: Source; option: Option }[]> {
      const { values, sources } = await current()
      return names.map((name) => {
        const option = options[name] as Option
        const shown = option.secret ? String(values[name]) : option.kind.show(values[name])
        return { name, value: values[name], shown, source: sources[name], option }
      })
    },

    /** Of these options, the ones that are set outside the database, and by what: a variable, `config.json` or `svc serve`. */
    async fixed(wanted: readonly OptionName[]): Promise<{ setting: OptionName; by: string }[]> {
      return fixedIn(await current(), wanted)
    },

    /** Sets or deletes a live option in one transaction with `unit`. Fault `not_found`. */
    store: (name: string, value: unknown, unit?: (tx: Writer) => Promise<void>): Promise<void> =>
      storeSeveral([[name, value]], unit),

    /** Sets or deletes (undefined) several live options at once, otherwise as `store`. */
    storeSeveral,

    /**
     * Updates the stored value of a live option from its current one, in one transaction with `unit`, so that
     * concurrent changes are not lost. An unchanged value is not written.
     */
    async revise<N extends OptionName, T>(
      name: N,
      unit: (tx: Writer, before: Values[N]) => Promise<{ value: Values[N]; result: T }>,
    ): Promise<T> {
      const revised = await database.write('instance', async (tx) => {
        const text = (await storedSettings(tx)).get(name)
        const before = (text === undefined ? options[name].standard : JSON.parse(text)) as Values[N]
        const { value, result } = await unit(tx, before)
        if (JSON.stringify(value) !== JSON.stringify(before)) await storeSetting(tx, name, JSON.stringify(value))
        return result
      })
      askedAt = -Infinity
      return revised
    },

    async maintenance(): Promise<Maintenance | undefined> {
      return unlessOver((await current()).maintenance, clock.now())
    },

    /** Begins maintenance, or ends it if undefined, in one transaction with `unit`, which receives the previous one. */
    async declare<T>(
      maintenance: Maintenance | undefined,
      unit: (tx: Writer, before: Maintenance | undefined) => Promise<T>,
    ): Promise<T> {
      const result = await database.write('instance', async (tx) => {
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
