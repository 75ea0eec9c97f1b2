import type { Api } from '../client/api.ts'
import type { Account } from '../client/credentials.ts'
import type { Domain } from '../domain/domain.ts'
import type { Backing } from '../wiring/backing-up.ts'
import type { Config } from '../wiring/config.ts'
import type { DataDirectory } from '../wiring/data-directory.ts'
import { parseDuration } from '../base/durations.ts'
import { parseSize } from '../base/sizes.ts'
import { Exit, usage, type ExitCode } from './exit.ts'
import type { Io } from './io.ts'

export interface FlagSpec<T> {
  summary: string
  /** Placeholder of the value in the help; none for a switch. */
  value?: string
  short?: string
  /** Turns the text given into the value; throws a sentence when it cannot. */
  parse?: (text: string) => T
  /** For completion and help. */
  choices?: readonly string[]
  /** May be given several times; the values arrive as an array. */
  many?: boolean
  /** Only there to give the flag its type. */
  type?: T
}

/** The name of a flag or an argument as it is typed: `displayName` is `display-name`, `without2fa` is `without-2fa`. */
export const kebabCase = (name: string): string =>
  name.replace(/[A-Z]|(?<=[a-z])\d/g, (character) => `-${character.toLowerCase()}`)

type Extra = { short?: string }

/** Builders of flags. In `flags` the name is written in camel case: `displayName` is `--display-name` on the command line. */
export const flag = {
  switch: (summary: string, extra: Extra = {}): FlagSpec<boolean> => ({ summary, ...extra }),
  text: (summary: string, value: string, extra: Extra = {}): FlagSpec<string | undefined> => ({
    summary,
    value,
    ...extra,
  }),
  integer: (summary: string, value: string, min = 0, max = Number.MAX_SAFE_INTEGER): FlagSpec<number | undefined> => ({
    summary,
    value,
    parse(text) {
      const number = Number(text)
      if (!/^-?\d+$/.test(text) || number < min || number > max)
        throw usage(`must be a whole number from ${min} to ${max}, not "${text}"`)
      return number
    },
  }),
  choice: <const C extends string>(summary: string, value: string, choices: readonly C[]): FlagSpec<C | undefined> => ({
    summary,
    value,
    choices,
    parse(text) {
      const found = choices.find((choice) => choice === text)
      if (found === undefined) throw usage(`must be ${choices.join(' or ')}, not "${text}"`)
      return found
    },
  }),
  /** A size such as `10GB`, or `none`; bytes, -1 for none. */
  size: (summary: string, value = 'SIZE'): FlagSpec<number | undefined> => ({
    summary,
    value,
    parse(text) {
      const bytes = text === 'none' ? -1 : parseSize(text)
      if (bytes === undefined) throw usage(`must be a size such as 10GB, or none, not "${text}"`)
      return bytes
    },
  }),
  /** A duration such as `90s`, `15m` or `2d`; milliseconds. */
  duration: (summary: string, value = 'TIME'): FlagSpec<number | undefined> => ({
    summary,
    value,
    parse(text) {
      const ms = parseDuration(text)
      if (ms === undefined) throw usage(`must be a duration such as 90s, 15m or 2d, not "${text}"`)
      return ms
    },
  }),
  yes: { summary: 'do not ask', short: 'y' } as FlagSpec<boolean>,
  many: (summary: string, value: string, extra: Extra = {}): FlagSpec<string[]> => ({
    summary,
    value,
    many: true,
    ...extra,
  }),
}

/** An argument: its summary, or with `optional` / `many` for one that may be missing or repeated. */
export type ArgSpec = string | { summary: string; optional?: true; many?: true }

type ArgValue<A> = A extends { many: true } ? string[] : A extends { optional: true } ? string | undefined : string
type FlagValue<F> = F extends FlagSpec<infer T> ? T : never

/** What the user's surroundings say, beside the command's own arguments. */
export interface Globals {
  /** The environment of the process; commands read it here and nowhere else. */
  env: NodeJS.ProcessEnv
  json: boolean
  debug: boolean
  /** Nothing but errors is printed. */
  quiet: boolean
  dataDir: string | undefined
  profile: string | undefined
}

/** What `run` is given beside its arguments: the runner opens and closes it. */
export interface Needs {
  /** Only io and arguments. */
  nothing: object
  /** All commands there are, by noun. */
  commands: { nouns: Record<string, Noun> }
  /** The domain on the data directory, whether the server runs or not. */
  domain: { domain: Domain; config: Config; directory: DataDirectory }
  /** What a backup needs of the domain, which takes less time to open. */
  backing: Pick<Backing, 'domain' | 'directory'>
  /** The signed-in account's server. */
  server: { api: Api; account: Account }
  /** One of the two before: what a user and an administrator both have. */
  either: Needs['domain'] | Needs['server']
}

export interface CommandSpec<
  N extends keyof Needs = keyof Needs,
  A extends Record<string, ArgSpec> = Record<string, ArgSpec>,
  F extends Record<string, FlagSpec<unknown>> = Record<string, FlagSpec<unknown>>,
> {
  /** The words of the command: `user add`. */
  name: string
  summary: string
  /** Further sentences of the help text. */
  details?: string
  needs: N
  /** Whether it sets an installation up, and makes the data directory where there is none; every other command says so. */
  makesDataDirectory?: true
  /**
   * Whether all it is for is what it prints: it changes nothing, and its exit code says nothing more. It ends when nobody
   * reads its output any more; every other command finishes its work, and takes `--yes`.
   */
  onlyPrints?: true | ((given: { args: Record<string, unknown>; flags: Record<string, unknown> }) => boolean)
  /** With `either`: whether what was asked for is the administrator's in any case. */
  asAdministrator?(flags: Record<string, unknown>): boolean
  args: A
  flags: F
  /** Whole command lines, the simplest first. */
  examples: readonly string[]
  run(
    context: Needs[N] & {
      io: Io
      globals: Globals
      args: { [K in keyof A]: ArgValue<A[K]> }
      flags: { [K in keyof F]: FlagValue<F[K]> }
    },
  ): Promise<ExitCode | void>
}

/** Commands that share their first word. */
export interface Noun {
  group: 'Server' | 'Administration' | 'Client' | 'Help'
  summary: string
  /** Other names it answers to. */
  aliases?: readonly string[]
  /** The verbs by name; the empty name is the noun itself as a command. Each loads when it is needed. */
  verbs: Record<string, () => Promise<CommandSpec>>
}

/** Declares a command; help, completion, the reference and the checks all follow from the declaration. */
export const command = <
  N extends keyof Needs,
  const A extends Record<string, ArgSpec>,
  F extends Record<string, FlagSpec<unknown>>,
>(
  spec: CommandSpec<N, A, F>,
): CommandSpec => spec as unknown as CommandSpec

/** Thrown when the user answers no. */
export const cancelled = (): Exit => new Exit(1, 'Nothing was changed.', 'cancelled')
