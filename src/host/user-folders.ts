import { homedir } from 'node:os'
import { isAbsolute, join } from 'node:path'

const standard = { config: '.config', data: '.local/share', state: '.local/state' } as const
const variables = { config: 'XDG_CONFIG_HOME', data: 'XDG_DATA_HOME', state: 'XDG_STATE_HOME' } as const

/** XDG Base Directory Specification: relative paths in the variables are ignored. */
export function userFolder(kind: keyof typeof standard, env: NodeJS.ProcessEnv): string {
  const named = env[variables[kind]]
  return named && isAbsolute(named) ? named : join(env['HOME'] || homedir(), standard[kind])
}
