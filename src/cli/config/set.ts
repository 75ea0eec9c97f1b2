import { command, flag } from '../command.ts'
import { usage } from '../exit.ts'
import type { Io } from '../io.ts'
import { readSecret } from '../password.ts'

interface ValueSource {
  key: string
  value: string | undefined
  file: string | undefined
}

/** A secret, which everybody on the machine could read in the arguments: from standard input, a file or a terminal. */
async function secretValue(io: Io, { key, value, file }: ValueSource): Promise<string> {
  if (value !== undefined && value !== '-')
    throw usage(
      `${key} is a secret, and arguments are seen by everybody here: give "-" and its value on standard input.`,
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
    'Settings that take effect at once hold for the running server too; the others from its next start on. The value of a secret comes from standard input ("-"), a file or a prompt, never from the command line.',
  needs: 'domain',
  makesDataDirectory: true,
  args: { key: 'name of the setting', value: { summary: 'its new value', optional: true } },
  flags: { valueFile: flag.text('read the value from a file', 'FILE') },
  examples: [
    'svc config set limits.sync_upload 600',
    'svc config set public_url https://cloud.example.org',
    'svc config set assistant.api_key - < key.txt',
  ],
  async run({ io, domain, config, directory, args: { key, value }, flags: { valueFile } }) {
    const { changeSetting, optionNamed } = await import('../../wiring/change-setting.ts')
    if (value !== undefined && valueFile !== undefined) throw usage('Give the value or --value-file, not both.')
    const source = { key, value, file: valueFile }
    const text = optionNamed(key).secret ? await secretValue(io, source) : await plainValue(source)
    const { stored, overriddenBy } = await changeSetting({ instance: domain.instance, config, directory }, key, text)
    const when = stored === 'database' ? 'in force now' : 'in force from the next start of the server on'
    const words = overriddenBy
      ? `${key} is stored, but not in force: ${overriddenBy} sets it too, and that wins.`
      : `${key} is set, ${when}.`
    io.print(words, { name: key, stored, overridden_by: overriddenBy ?? null })
    return overriddenBy ? 3 : 0
  },
})
