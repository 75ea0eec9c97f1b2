import { command, flag } from '../command.ts'
import { usage } from '../exit.ts'
import type { Io } from '../io.ts'
import { readSecret } from '../password.ts'

interface ValueSource {
  key: string
  value: string | undefined
  file: string | undefined
}

/** Reads a secret from standard input, a file or the terminal: every user of the machine can read arguments. */
async function secretValue(io: Io, { key, value, file }: ValueSource): Promise<string> {
  if (value !== undefined && value !== '-')
    throw usage(
      `${key} is a secret, and other users of this machine can see arguments: give "-" and the value on standard input.`,
    )
  const found = await readSecret(io, { stdin: value === '-', file }, 'value')
  return found ?? io.askSecret(`Value of ${key}:`, '"-" with the value on standard input, or --value-file')
}

async function plainValue({ key, value, file }: ValueSource): Promise<string> {
  if (value !== undefined) return value
  if (file === undefined) throw usage(`Give the value of ${key}.`)
  const { readFile } = await import('node:fs/promises')
  try {
    return (await readFile(file, 'utf8')).trim()
  } catch (error) {
    throw usage(`The value cannot be read from ${file}: ${(error as Error).message}.`)
  }
}

export const set = command({
  name: 'config set',
  summary: 'Change one setting',
  details:
    'Settings that take effect at once also apply to a running server; the others apply from its next start. The value of a secret comes from standard input ("-"), a file or a prompt, never from the command line.',
  needs: 'domain',
  createsDataDirectory: true,
  args: { key: 'name of the setting', value: { summary: 'its new value', optional: true } },
  flags: { valueFile: flag.text('read the value from a file', 'FILE') },
  examples: [
    'svc config set limits.sync_upload 600',
    'svc config set public_url https://cloud.example.org',
    'svc config set assistant.api_key - < key.txt',
  ],
  async run({ io, domain, config, directory, args: { key, value }, flags: { valueFile } }) {
    const { changeSetting, optionNamed } = await import('../../wiring/config/setting-change.ts')
    if (value !== undefined && valueFile !== undefined) throw usage('Give the value or --value-file, not both.')
    const source = { key, value, file: valueFile }
    const text = optionNamed(key).secret ? await secretValue(io, source) : await plainValue(source)
    const { stored, overriddenBy } = await changeSetting({ instance: domain.instance, config, directory }, key, text)
    const when = stored === 'database' ? 'in effect now' : 'in effect from the next start of the server'
    const words = overriddenBy
      ? `${key} is stored but not in effect: ${overriddenBy} also sets it and takes precedence.`
      : `${key} is set, ${when}.`
    io.print(words, { name: key, stored, overridden_by: overriddenBy ?? null })
    return overriddenBy ? 3 : 0
  },
})
