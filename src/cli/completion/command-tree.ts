import { Command } from 'commander'
import { kebabCase, type CommandSpec, type Noun } from '../command.ts'
import { addGlobals } from '../program.ts'

/** Completions as data for every shell's script. */
export interface Tree {
  nouns: NounCompletion[]
  globals: FlagCompletion[]
}

export interface NounCompletion {
  name: string
  summary: string
  aliases: readonly string[]
  verbs: VerbCompletion[]
}

export interface VerbCompletion {
  /** Empty for the noun itself as a command. */
  name: string
  summary: string
  flags: FlagCompletion[]
}

export interface FlagCompletion {
  long: string
  short: string | undefined
  summary: string
  takesValue: boolean
  choices: readonly string[]
}

const flagsOf = ({ flags }: CommandSpec): FlagCompletion[] =>
  Object.entries(flags).map(([name, { summary, value, short, choices = [] }]) => ({
    long: `--${kebabCase(name)}`,
    short: short && `-${short}`,
    summary,
    takesValue: value !== undefined,
    choices,
  }))

export async function readTree(nouns: Record<string, Noun>): Promise<Tree> {
  const all: NounCompletion[] = []
  for (const [name, { summary, aliases = [], verbs }] of Object.entries(nouns)) {
    const verbEntries: VerbCompletion[] = []
    for (const [verb, load] of Object.entries(verbs)) {
      const spec = await load()
      verbEntries.push({ name: verb, summary: spec.summary, flags: flagsOf(spec) })
    }
    all.push({ name, summary, aliases, verbs: verbEntries })
  }
  const globals = addGlobals(new Command()).options.map(({ long, short, description, required }) => ({
    long: long ?? '',
    short,
    summary: description,
    takesValue: required,
    choices: [],
  }))
  const help = { long: '--help', short: '-h', summary: 'show help', takesValue: false, choices: [] }
  return { nouns: all, globals: [...globals, help] }
}

export const valueGlobals = ({ globals }: Tree): string[] =>
  globals.flatMap(({ long, takesValue }) => (takesValue ? [long] : []))
