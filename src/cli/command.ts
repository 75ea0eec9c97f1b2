import type { Api } from '../client/api.ts'
import type { Account } from '../client/auth/credentials.ts'
import type { Domain } from '../domain/domain.ts'
import type { BackupContext } from '../wiring/backups/backup-context.ts'
import type { Config } from '../wiring/config/config.ts'
import type { DataDirectory } from '../wiring/installation/data-directory.ts'
import { parseDuration } from '../base/durations.ts'
import { parseSize } from '../base/sizes.ts'
import { Exit, usage, type ExitCode } from './exit.ts'
import type { Io } from './io.ts'

const DAY = 86_400_000
const LONGEST_DAYS = 36_500

export interface FlagSpec<T> {
  summary: string
  /** Placeholder of the value in the help; a switch has none. */
  value?: string
  short?: string
  /** Parses the value; throws a sentence for the user. */
  parse?: (text: string) => T
  /** Allowed values, for completion and help. */
  choices?: readonly string[]
  /** May be repeated; the values arrive as an array. */
  many?: boolean
  /** Only carries the type of the flag. */
  type?: T
}

/** Converts to the name on the command line: `displayName` is `display-name`, `without2fa` is `without-2fa`. */
export const kebabCase = (name: string): string =>
  name.replace(/[A-Z]|(?<=[a-z])\d/g, (character) => `-${character.toLowerCase()}`)

type Extra = { short?: string }

/** Builders of flags. A key `displayName` in `flags` is `--display-name` on the command line. */
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
  /** A size such as `10GB`, or `none`; in bytes, -1 for none. */
  size: (summary: string): FlagSpec<number | undefined> => ({
    summary,
    value: 'SIZE',
    parse(text) {
      const bytes = text === 'none' ? -1 : parseSize(text)
      if (bytes === undefined) throw usage(`must be a size such as 10GB, or none, not "${text}"`)
      return bytes
    },
  }),
  /** A duration such as `90s`, `15m` or `2d`; in milliseconds. */
  duration: (summary: string): FlagSpec<number | undefined> => ({
    summary,
    value: 'TIME',
    parse(text) {
      const ms = parseDuration(text)
      if (ms === undefined) throw usage(`must be a duration such as 90s, 15m or 2d, not "${text}"`)
      if (ms > LONGEST_DAYS * DAY) throw usage(`must be at most ${LONGEST_DAYS}d, not "${text}"`)
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

/** An argument: its summary, or an object for one that is optional or repeated. */
export type ArgSpec = string | { summary: string; optional?: true; many?: true }

type ArgValue<A> = A extends { many: true } ? string[] : A extends { optional: true } ? string | undefined : string
type FlagValue<F> = F extends FlagSpec<infer T> ? T : never

/** What applies to every command: global flags and the environment. */
export interface Globals {
  /** Commands read the environment only here. */
  env: NodeJS.ProcessEnv
  json: boolean
  debug: boolean
  /** Print nothing but errors. */
  quiet: boolean
  dataDir: string | undefined
  profile: string | undefined
}

/** What the runner opens for `run` and closes afterwards. */
export interface Needs {
  nothing: object
  commands: { nouns: Record<string, Noun> }
  /** The domain on the data directory, whether or not the server runs. */
  domain: { domain: Domain; config: Config; directory: DataDirectory }
  /** The part of the domain that backups need; opens faster. */
  backup: Pick<BackupContext, 'domain' | 'directory'>
  /** The API of the signed-in account. */
  server: { api: Api; account: Account }
  /** `domain` or `server`: for commands of both users and administrators. */
  either: Needs['domain'] | Needs['server']
}

export interface CommandSpec<
  N extends keyof Needs = keyof Needs,
  A extends Record<string, ArgSpec> = Record<string, ArgSpec>,
  F extends Record<string, FlagSpec<unknown>> = Record<string, FlagSpec<unknown>>,
> {
  /** For example `user add`. */
  name: string
  summary: string
  /** More sentences for the help. */
  details?: string
  needs: N
  /** Creates the data directory if there is none; every other command fails. */
  createsDataDirectory?: true
  /**
   * Whether the command only prints: it changes nothing, and its exit code has no other meaning. It ends when the
   * reader of its output goes away; every other command finishes its work, and accepts `--yes`.
   */
  onlyPrints?: true | ((given: { args: Record<string, unknown>; flags: Record<string, unknown> }) => boolean)
  /** With `either`: whether these flags need the administrator's mode. */
  asAdministrator?(flags: Record<string, unknown>): boolean
  args: A
  flags: F
  /** Command lines, the simplest first. */
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

export interface Noun {
  group: 'Server' | 'Administration' | 'Client' | 'Help'
  summary: string
  aliases?: readonly string[]
  /** Verbs by name, loaded on demand; the empty name is the noun itself as a command. */
  verbs: Record<string, () => Promise<CommandSpec>>
}

/** Declares a command. Help, completion, the reference and the checks follow from it. */
export const command = <
  N extends keyof Needs,
  const A extends Record<string, ArgSpec>,
  F extends Record<string, FlagSpec<unknown>>,
>(
  spec: CommandSpec<N, A, F>,
): CommandSpec => spec as unknown as CommandSpec

/** Thrown if the user answers no. */
export const cancelled = (): Exit => new Exit(1, 'Nothing was changed.', 'cancelled')
