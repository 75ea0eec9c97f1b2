import { fault } from '../../contract/errors.ts'
import {
  isOption,
  options,
  variableOf,
  type Instance,
  type Option,
  type Source,
} from '../../domain/instance/instance.ts'
import { BadConfig, type Config } from './config.ts'
import { changeConfigFile, type DataDirectory } from '../installation/data-directory.ts'
import { isPlace } from '../installation/storage.ts'

export interface Changed {
  /** `database` takes effect at once in every process; `config.json` at the next start. */
  stored: 'database' | 'config.json'
  /** What overrides it, for example an environment variable. */
  overriddenBy: string | undefined
}

/** Finds an option by name; fault `not_found` if there is none. */
export function optionNamed(name: string): Option {
  if (!isOption(name)) throw fault('not_found', { text: `There is no setting "${name}": svc config list lists them.` })
  return options[name] as Option
}

/** Sets an option from text, or resets it (undefined). Throws `BadConfig` for an invalid text. */
export async function changeSetting(
  { instance, config, directory }: { instance: Instance; config: Config; directory: DataDirectory },
  name: string,
  text: string | undefined,
): Promise<Changed> {
  const option = optionNamed(name)
  if (isPlace(name))
    throw new BadConfig(`${name} cannot be set alone: svc storage migrate --to URL also moves the data.`)
  const value = text === undefined ? undefined : parsed(name, option, text)
  const shown = value === undefined ? null : option.secret ? '********' : option.kind.show(value)
  const detail = { name, value: shown }
  if (!option.live) await changeFile(directory, name, value)
  await instance.settings.storeSeveral(option.live ? [[name, value]] : [], (tx) =>
    instance.audit.record(tx, { kind: 'setting.changed', detail }),
  )
  const source = isOption(name) ? config.sources[name] : undefined
  return { stored: option.live ? 'database' : 'config.json', overriddenBy: obstacle(name, source, option.live) }
}

function parsed(name: string, option: Option, text: string): unknown {
  try {
    return option.kind.parse(text)
  } catch (error) {
    throw new BadConfig(`${name} ${(error as Error).message}.`)
  }
}

const changeFile = (directory: DataDirectory, name: string, value: unknown): Promise<void> =>
  changeConfigFile(directory, ({ [name]: _before, ...others }) => {
    const stored = Array.isArray(value) ? value.join(',') : value
    return stored === undefined ? others : { ...others, [name]: stored }
  })

function obstacle(name: string, source: Source | undefined, live: boolean): string | undefined {
  if (source === 'environment' && isOption(name)) return `the environment variable ${variableOf(name)}`
  return source === 'config.json' && live ? 'config.json' : undefined
}
