import { offsetIn } from '../../base/json-positions.ts'
import type { OptionName } from '../../domain/instance/options.ts'
import type { Given } from '../../domain/instance/settings.ts'
import { readConfig } from './config.ts'
import { parseConfig, readConfigText, type DataDirectory } from '../installation/data-directory.ts'

/** The line of a member in the text of an object, from 1. */
const lineOf = (text: string, name: string): number => text.slice(0, offsetIn(text, [name])).split('\n').length

/** The settings from flags, environment and `config.json`. Throws `BadConfig`, which names the lines of wrong ones. */
export async function readGiven(
  directory: DataDirectory,
  env: NodeJS.ProcessEnv,
  flags: Partial<Record<OptionName, string | undefined>> = {},
): Promise<Given> {
  const text = (await readConfigText(directory)) ?? '{}'
  return readConfig(env, parseConfig(directory, text), flags, (name) => lineOf(text, name))
}
