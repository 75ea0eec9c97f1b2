import { Command, CommanderError, Option } from 'commander'
import { kebabCase, flag as flags, type ArgSpec, type CommandSpec, type FlagSpec, type Noun } from './command.ts'
import { environment } from '../wiring/config/environment.ts'
import { usage } from './exit.ts'
import type { ParsedCommand } from './simple-command-line.ts'

/** Default values are not shown; the summary names one where it matters. */
const HELP = { showGlobalOptions: true, optionDescription: ({ description }: Option) => description }

function argument(name: string, spec: ArgSpec): [form: string, summary: string] {
  if (typeof spec === 'string') return [`<${kebabCase(name)}>`, spec]
  const shown = kebabCase(name) + (spec.many ? '...' : '')
  return [spec.optional ? `[${shown}]` : `<${shown}>`, spec.summary]
}

/** Placeholders of local paths, in flags and arguments. */
const PATHS: ReadonlySet<string> = new Set(['DIR', 'FILE', 'DIR|FILE', 'dir', 'file', 'local', 'package'])

/** Rejects an empty path, for example from an unset variable: it would mean the current folder. */
function given(name: string, placeholder: string, text: string): string {
  if (text === '' && PATHS.has(placeholder)) throw usage(`${name} is empty: give a path, such as . for this folder.`)
  return text
}

function option(name: string, spec: FlagSpec<unknown>): Option {
  const long = `--${kebabCase(name)}${spec.value ? ` <${spec.value}>` : ''}`
  const namesChoices = (spec.choices ?? []).every((choice) => `${spec.value} ${spec.summary}`.includes(choice))
  const summary = namesChoices ? spec.summary : `${spec.summary}: ${spec.choices!.join(', ')}`
  const built = new Option(spec.short ? `-${spec.short}, ${long}` : long, summary)
  const parse = (text: string): unknown => {
    given(`--${kebabCase(name)}`, spec.value ?? '', text)
    try {
      return spec.parse ? spec.parse(text) : text
    } catch (error) {
      throw usage(`--${kebabCase(name)} ${(error as Error).message}.`)
    }
  }
  // Defaults are not passed to commander: its help would show them after each flag.
  if (spec.many) built.argParser((text: string, before: unknown[] | undefined) => [...(before ?? []), parse(text)])
  else if (spec.value) built.argParser(parse)
  return built
}

/** commander treats `--no-clobber` as the negation of a flag `clobber`; here it is the flag `noClobber`. */
const isNegated = (name: string): boolean => /^no[A-Z]/.test(name)

function flagsOf(spec: CommandSpec, options: Record<string, unknown>): Record<string, unknown> {
  const valueOf = (name: string, { many, value }: FlagSpec<unknown>) => {
    if (isNegated(name)) return options[name.charAt(2).toLowerCase() + name.slice(3)] === false
    const given = options[name]
    if (many) return given ?? []
    return value ? given : given === true
  }
  return Object.fromEntries(Object.entries(spec.flags).map(([name, flag]) => [name, valueOf(name, flag)]))
}

/** The global flags, allowed before or after any command. */
export function addGlobals(program: Command): Command {
  return program
    .option('--json', 'one JSON document on stdout (streams: one object a line)')
    .option('--data-dir <dir>', 'data directory of the server (SVC_DATA_DIR)', (path: string) =>
      given('--data-dir', 'DIR', path),
    )
    .option('--profile <name>', 'account of this machine to use')
    .option('-q, --quiet', 'print nothing but errors')
    .option('--no-color', 'plain text (also NO_COLOR)')
    .option('--debug', 'show the stack of an error')
    .helpOption('-h, --help', 'show help')
}

function addCommand(
  parent: Command,
  verb: string,
  spec: CommandSpec,
  choose: (chosen: Omit<ParsedCommand, 'globals'>) => void,
): void {
  const built = verb === '' ? parent : parent.command(verb)
  built.summary(spec.summary).description(spec.details ? `${spec.summary}\n\n${spec.details}` : spec.summary)
  for (const [name, arg] of Object.entries(spec.args)) built.argument(...argument(name, arg))
  for (const [name, flag] of Object.entries(spec.flags)) built.addOption(option(name, flag))
  // Scripts may pass `--yes` to every command that changes something, even if it does not ask.
  if (spec.onlyPrints !== true && !('yes' in spec.flags)) built.addOption(option('yes', flags.yes).hideHelp())
  built.addHelpText('after', `\nExamples:\n${spec.examples.map((line) => `  ${line}`).join('\n')}`)
  built.action((...values: unknown[]) => {
    const args = Object.fromEntries(Object.keys(spec.args).map((name, index) => [name, values[index]]))
    for (const [name, value] of Object.entries(args)) for (const text of [value].flat()) given(name, name, String(text))
    choose({ spec, args, flags: flagsOf(spec, built.opts()) })
  })
}

async function addNoun(
  program: Command,
  name: string,
  noun: Noun,
  choose: (chosen: Omit<ParsedCommand, 'globals'>) => void,
  verb: string | undefined,
) {
  const built = program
    .command(name)
    .summary(noun.summary)
    .description(noun.summary)
    .aliases([...(noun.aliases ?? [])])
  const verbs = Object.keys(noun.verbs)
  // Load only the requested verb; the help of a noun shows all verbs. No word after `--` is a verb.
  const wanted = verb !== undefined && Object.hasOwn(noun.verbs, verb) ? [verb] : verbs
  for (const one of wanted) addCommand(built, one, await noun.verbs[one]!(), choose)
  if (!Object.hasOwn(noun.verbs, '')) built.action(() => built.help({ error: true }))
}

/** Positions of the words in a command line; global flags may stand before and between them. */
function wordPositions(argv: readonly string[]): number[] {
  const positions: number[] = []
  for (let index = 0; index < argv.length; index++) {
    const word = argv[index]!
    if (word === '--') break
    if (word === '--data-dir' || word === '--profile') index++
    else if (!word.startsWith('-')) positions.push(index)
  }
  return positions
}

/**
 * The verb of a command line. If the noun itself is a command, its flags may take values: only a word directly after it
 * is known to be the verb. After `--` no word is. Undefined if only full parsing can tell.
 */
function verbOf(argv: readonly string[], { verbs }: Noun, [noun, second]: number[]): string | undefined {
  if (!Object.hasOwn(verbs, '')) return second === undefined ? undefined : argv[second]
  const next = argv[noun! + 1]!
  if (next !== undefined && next !== '' && Object.hasOwn(verbs, next)) return next
  return argv.includes('--') ? '' : undefined
}

/** Returns the command to run; undefined if help was printed. Throws `Exit` 2 if the command line is invalid. */
export async function parse(argv: readonly string[], nouns: Record<string, Noun>): Promise<ParsedCommand | undefined> {
  const positions = wordPositions(argv)
  const first = argv[positions[0] ?? argv.length]
  const entry = Object.entries(nouns).find(([name, { aliases }]) => name === first || aliases?.includes(first ?? ''))
  if (!entry) throw usage(await unknownCommand([first ?? ''], nounNames(nouns)))
  const verb = verbOf(argv, entry[1], positions)
  if (verb !== undefined && !Object.hasOwn(entry[1].verbs, '') && !Object.hasOwn(entry[1].verbs, verb))
    throw usage(await unknownCommand([entry[0], verb], Object.keys(entry[1].verbs)))
  let chosen: Omit<ParsedCommand, 'globals'> | undefined
  const program = addGlobals(new Command('svc')).exitOverride()
  program.configureOutput({ outputError: () => undefined })
  program.configureHelp(HELP)
  await addNoun(program, ...entry, (one) => (chosen = one), verb)
  for (const command of [program, ...program.commands, ...program.commands.flatMap((sub) => sub.commands)]) {
    command
      .exitOverride()
      .showSuggestionAfterError(false)
      .configureOutput({ outputError: () => undefined })
      .configureHelp(HELP)
  }
  try {
    await program.parseAsync([...argv], { from: 'user' })
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error
    if (error.exitCode === 0) return undefined
    // A noun without a verb prints its help, not an error.
    if (error.code === 'commander.help')
      throw usage(`Give a command: svc ${entry[0]} ${Object.keys(entry[1].verbs).join('|')}.`)
    throw usage(
      await explainError(
        error,
        entry,
        program,
        positions.map((place) => argv[place]!),
      ),
    )
  }
  if (chosen) assertNoFlagsBefore(program.commands[0]!, entry[0], chosen.spec)
  return chosen && { ...chosen, globals: globalsOf(program.opts()) }
}

async function explainError(error: CommanderError, entry: [string, Noun], program: Command, words: string[]) {
  const [name] = entry
  if (error.code === 'commander.excessArguments') {
    const hint = await quotingHint(entry, error.message)
    if (hint) return hint
  }
  const option = /^error: unknown option '(--[^'=]+)/.exec(error.message)?.[1]
  const suggestion = option === undefined ? undefined : await suggestFlag(option, program, words[1])
  const see = `See svc ${name} --help.`
  return suggestion
    ? `There is no option ${option}: did you mean ${suggestion}? ${see}`
    : `${toSentence(error.message)} ${see}`
}

async function suggestFlag(option: string, program: Command, verb: string | undefined): Promise<string | undefined> {
  const noun = program.commands[0]!
  const command = noun.commands.find((one) => one.name() === verb) ?? noun
  const flags = [...command.options, ...program.options].flatMap(({ long }) => long ?? [])
  return (await import('./suggestion.ts')).suggest(option, flags)
}

/** A hint for words that begin with a verb's name but were meant as text of the noun, which takes any words. */
async function quotingHint([name, { verbs }]: [string, Noun], message: string): Promise<string | undefined> {
  const verb = /for '([^']*)'/.exec(message)?.[1] ?? ''
  if (verb === name || !Object.hasOwn(verbs, '') || !Object.hasOwn(verbs, verb)) return undefined
  const isFree = Object.values((await verbs['']!()).args).some((arg) => typeof arg !== 'string' && arg.many)
  return isFree ? `${toSentence(message)} ${quotingText(name, verb)}` : undefined
}

const quotingText = (noun: string, verb: string): string =>
  `Put words that only begin with "${verb}" in quotes, or after --: svc ${noun} -- ${verb} …`

/** Rejects flags of a noun before one of its verbs. */
function assertNoFlagsBefore(built: Command, noun: string, { name }: CommandSpec): void {
  if (name === noun) return
  const given = built.options.find((one) => built.getOptionValueSource(one.attributeName()) === 'cli')
  if (given) throw usage(`svc ${name} has no option ${given.long}. ${quotingText(noun, name.slice(noun.length + 1))}`)
}

const globalsOf = ({
  json,
  debug,
  quiet,
  dataDir,
  profile,
  color,
}: Record<string, unknown>): ParsedCommand['globals'] => ({
  env: environment,
  json: json === true,
  debug: debug === true,
  quiet: quiet === true,
  dataDir: dataDir as string | undefined,
  profile: profile as string | undefined,
  color: color !== false,
})

const toSentence = (message: string): string => {
  const text = message
    .replace(/^error: /, '')
    .replace(/\s+/g, ' ')
    .trim()
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}${/[.?)]$/.test(text) ? '' : '.'}`
}

const nounNames = (nouns: Record<string, Noun>): string[] =>
  Object.entries(nouns).flatMap(([name, { aliases = [] }]) => [name, ...aliases])

/** Reports an unknown command and suggests the closest one; the last word is the unknown one. */
async function unknownCommand(words: string[], names: string[]): Promise<string> {
  const before = words.slice(0, -1).map((word) => `${word} `)
  const suggestion = (await import('./suggestion.ts')).suggest(words.at(-1)!, names)
  const hint = suggestion === undefined ? '.' : `: did you mean svc ${before.join('')}${suggestion}?`
  return `There is no command "${words.join(' ')}"${hint} See svc ${before.join('')}--help.`
}
