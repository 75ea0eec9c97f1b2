import { variableOf } from '../domain/instance/options.ts'
import { dataDirectoryPath, partsOf, readConfigFile } from './data-directory.ts'

/**
 * The form of the log before the settings are read and checked, for what goes wrong until then: by flag, environment or
 * `config.json`. Where that file cannot be read, `auto`.
 */
export async function logFormatBefore(
  place: { dataDir: string | undefined } | undefined,
  flag: string | undefined,
  env: NodeJS.ProcessEnv,
): Promise<string> {
  const given = flag ?? (env[variableOf('log_format')] || undefined)
  if (given !== undefined || place === undefined) return given ?? 'auto'
  const file = await readConfigFile(partsOf(dataDirectoryPath(place.dataDir, env))).catch(() => ({}))
  const { log_format } = file as Record<string, unknown>
  return typeof log_format === 'string' ? log_format : 'auto'
}
