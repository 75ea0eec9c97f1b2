import { isOption, options, variableOf, type OptionName } from '../../domain/instance/options.ts'
import type { Given, Source } from '../../domain/instance/settings.ts'

/** Settings from outside the database, and the path of the data directory. */
export interface Config extends Given {
  dataDir: string
}

/** Every problem of the configuration at once. */
export class BadConfig extends Error {
  override name = 'BadConfig'
  readonly exitCode = 2
}

const names = Object.keys(options) as OptionName[]

/**
 * Combines flags, environment and `config.json`, in this order of precedence. Pure. `lineOf` finds a setting in the file.
 * Throws `BadConfig` with every problem.
 */
export function readConfig(
  env: Record<string, string | undefined>,
  file: Record<string, unknown>,
  flags: Partial<Record<OptionName, string | undefined>>,
  lineOf: (name: string) => number | undefined = () => undefined,
): Given {
  const problems: string[] = []
  const values: Record<string, unknown> = {}
  const sources: Partial<Record<OptionName, Source>> = {}

  const take = (name: OptionName, text: string, source: Source, where: string): void => {
    if (name in values) return
    try {
      values[name] = options[name].kind.parse(text)
      sources[name] = source
    } catch (error) {
      problems.push(`${where} ${(error as Error).message}.`)
    }
  }

  for (const name of names) {
    const flag = flags[name]
    if (flag !== undefined) take(name, flag, 'flag', `--${name.replaceAll('_', '-')}`)
    const variable = env[variableOf(name)]
    if (variable !== undefined && variable !== '') take(name, variable, 'environment', variableOf(name))
  }
  for (const [name, value] of Object.entries(file)) {
    const line = lineOf(name)
    const where = line === undefined ? 'config.json' : `config.json:${line}`
    if (!isOption(name)) problems.push(`${where}: there is no option "${name}".`)
    else if (typeof value === 'object') problems.push(`${where}: ${name} must be a text, a number, true or false.`)
    else take(name, value === true ? 'on' : value === false ? 'off' : String(value), 'config.json', `${where}: ${name}`)
  }
  if (problems.length > 0) throw new BadConfig(problems.join('\n'))
  return { values, sources }
}
