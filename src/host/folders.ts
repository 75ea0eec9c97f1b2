import { homedir } from 'node:os'
import { isAbsolute, join } from 'node:path'

const standard = { config: '.config', data: '.local/share', state: '.local/state' } as const
const variables = { config: 'XDG_CONFIG_HOME', data: 'XDG_DATA_HOME', state: 'XDG_STATE_HOME' } as const

/** Where this user's programs keep configuration, data or state (XDG Base Directory Specification); a relative path in the variable is ignored, as it says. */
export function userFolder(kind: keyof typeof standard, env: NodeJS.ProcessEnv): string {
  const named = env[variables[kind]]
  return named && isAbsolute(named) ? named : join(env['HOME'] || homedir(), standard[kind])
}
