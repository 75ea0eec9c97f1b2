import { readFileSync } from 'node:fs'
import { options, type OptionName } from '../../../src/domain/instance/options.ts'

/** What the documentation promises administrators. */
const document = readFileSync(new URL('../../../src/docs/disk-space.md', import.meta.url), 'utf8')
const lines = /```bounds\n([^`]+)```/.exec(document)![1]!.trim().split('\n')

/** The value of a sum of products, with names for some numbers. */
function evaluate(formula: string, values: (name: string) => number): number {
  const tokens = formula.match(/[\d.]+|[a-z_.]+|[()+*]/g)!
  const atom = (): number => {
    const token = tokens.shift()!
    if (token !== '(') return /^[\d.]+$/.test(token) ? Number(token) : values(token)
    const inner = sum()
    tokens.shift()
    return inner
  }
  const product = (): number => {
    let value = atom()
    while (tokens[0] === '*' && tokens.shift()) value *= atom()
    return value
  }
  const sum = (): number => {
    let value = product()
    while (tokens[0] === '+' && tokens.shift()) value += product()
    return value
  }
  return sum()
}

/** The promised bounds in bytes, of an account with a quota on a server with these settings. */
export function promised(quota: number, settings: Partial<Record<OptionName, number>>) {
  const valueOf = (name: string): number => {
    const value = name === 'quota' ? quota : (settings[name as OptionName] ?? options[name as OptionName].standard)
    if (typeof value !== 'number' || value < 0) throw new Error(`${name} bounds nothing.`)
    return value
  }
  const bounds = Object.fromEntries(
    lines.map((line) => {
      const [name = '', formula = ''] = line.split(' = ')
      return [name, evaluate(formula, valueOf)]
    }),
  )
  return bounds as { stored: number; arriving: number; database: number }
}
