import { kebabCase, type ArgSpec, type CommandSpec, type FlagSpec, type Globals, type Noun } from './command.ts'
import { environment } from '../wiring/config/environment.ts'

// Reads command lines of the usual form without commander, whose loading takes a tenth of the time of a short command:
// `svc NOUN [VERB] [ARGUMENTS and FLAGS]`, each flag a word of its own, with its value in the next word. For anything else,
// help and mistakes included, commander decides (program.ts).

export interface ParsedCommand {
  spec: CommandSpec
  args: Record<string, unknown>
  flags: Record<string, unknown>
  globals: Globals & { color: boolean }
}

/** Not of the usual form. */
class Unusual extends Error {}

interface Words {
  positional: string[]
  /** Values by flag. */
  given: Map<string, string[]>
}

const GLOBAL_VALUES = ['--data-dir', '--profile']
const GLOBAL_SWITCHES = ['--json', '--debug', '--quiet', '--no-color']

/** Flags of a command as they are written, with their names. */
const flagNames = (spec: CommandSpec): Map<string, string> =>
  new Map(
    Object.entries(spec.flags).flatMap(([name, { short }]) => {
      const long = [`--${kebabCase(name)}`, name] as const
      return short === undefined ? [long] : [long, [`-${short}`, name] as const]
    }),
  )

/** Divides the words after the command. An empty one may come from an unset variable. */
function divide(words: readonly string[], spec: CommandSpec): Words {
  const names = flagNames(spec)
  const divided: Words = { positional: [], given: new Map() }
  for (let index = 0; index < words.length; index += 1) {
    const word = words[index]!
    if (word === '') throw new Unusual()
    if (!word.startsWith('-')) {
      divided.positional.push(word)
      continue
    }
    const name = names.get(word)
    const flag = name === undefined ? word : `--${kebabCase(name)}`
    const isGlobal = name === undefined && [...GLOBAL_VALUES, ...GLOBAL_SWITCHES].includes(word)
    if (name === undefined && !isGlobal) throw new Unusual()
    const takesValue = name === undefined ? GLOBAL_VALUES.includes(word) : spec.flags[name]!.value !== undefined
    const before = divided.given.get(flag) ?? []
    const isMany = name !== undefined && spec.flags[name]!.many === true
    if (before.length > 0 && !isMany) throw new Unusual()
    const value = takesValue ? words[++index] : word
    if (value === undefined || value === '' || (takesValue && value.startsWith('-'))) throw new Unusual()
    divided.given.set(flag, [...before, value])
  }
  // Of two that exclude each other, commander lets the last one hold.
  for (const flag of divided.given.keys()) if (divided.given.has(flag.replace(/^--/, '--no-'))) throw new Unusual()
  return divided
}

/** The values of the arguments by name; an optional one may be missing, and the last may take all that are left. */
function argumentsOf(specs: Record<string, ArgSpec>, words: readonly string[]): Record<string, unknown> {
  const left = [...words]
  const entries = Object.entries(specs).map(([name, spec]): [string, unknown] => {
    const { optional = false, many = false } = typeof spec === 'string' ? {} : spec
    if (left.length === 0 && !optional) throw new Unusual()
    // What commander makes of no value depends on its version.
    if (many && left.length === 0) throw new Unusual()
    return [name, many ? left.splice(0) : left.shift()]
  })
  if (left.length > 0) throw new Unusual()
  return Object.fromEntries(entries)
}

function flagValue(flag: FlagSpec<unknown>, given: readonly string[] | undefined): unknown {
  if (flag.value === undefined) return given !== undefined
  const values = (given ?? []).map((text) => (flag.parse ? flag.parse(text) : text))
  return flag.many ? values : values[0]
}

const flagsOf = ({ flags }: CommandSpec, given: Words['given']): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(flags).map(([name, flag]) => [name, flagValue(flag, given.get(`--${kebabCase(name)}`))]),
  )

/** The command that the words begin with, and the words after it; undefined if only commander can tell. */
async function commandOf(words: readonly string[], nouns: Record<string, Noun>) {
  const [noun = '', verb = ''] = words
  const found = Object.entries(nouns).find(([name, { aliases }]) => name === noun || aliases?.includes(noun))?.[1]
  if (!found) return undefined
  const isVerb = verb !== '' && Object.hasOwn(found.verbs, verb)
  const spec = await found.verbs[isVerb ? verb : '']?.()
  // Of a noun that is a command itself and has verbs, the next word may be a mistyped verb.
  const mayBeVerb = !isVerb && Object.keys(found.verbs).length > 1
  return spec && { spec, rest: words.slice(isVerb ? 2 : 1), mayBeVerb }
}

/** The command to run; undefined if the command line is not of the usual form. */
export async function parseSimply(
  words: readonly string[],
  nouns: Record<string, Noun>,
): Promise<ParsedCommand | undefined> {
  const command = await commandOf(words, nouns)
  if (!command) return undefined
  const { spec, rest, mayBeVerb } = command
  try {
    const { positional, given } = divide(rest, spec)
    if (mayBeVerb && positional.length > 0) return undefined
    const globals = {
      env: environment,
      json: given.has('--json'),
      debug: given.has('--debug'),
      quiet: given.has('--quiet'),
      dataDir: given.get('--data-dir')?.[0],
      profile: given.get('--profile')?.[0],
      color: !given.has('--no-color'),
    }
    return { spec, args: argumentsOf(spec.args, positional), flags: flagsOf(spec, given), globals }
  } catch {
    // Commander finds the same mistake, such as an invalid value, and explains it.
    return undefined
  }
}
