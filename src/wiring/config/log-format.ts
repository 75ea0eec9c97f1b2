import { variableOf } from '../../domain/instance/options.ts'
import { dataDirectoryPath, partsOf, readConfigFile } from '../installation/data-directory.ts'

/** The log format before the settings are read: from flag, environment or `config.json`; `auto` if that file cannot be read. */
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
