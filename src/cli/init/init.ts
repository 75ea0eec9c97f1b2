import { existsSync } from 'node:fs'
import type { DataDirectory } from '../../wiring/installation/data-directory.ts'
import { command, flag } from '../command.ts'
import { Exit } from '../exit.ts'
import { passwordFlags, printWithPassword, readNewPassword } from '../password.ts'
import { commandLine } from '../../base/shell-words.ts'
import { signInAddress } from '../sign-in-address.ts'

export const init = command({
  name: 'init',
  summary: 'Prepare a data directory: keys, configuration, first administrator',
  details: 'Existing parts are not changed, so it can be run again.',
  needs: 'domain',
  createsDataDirectory: true,
  args: {},
  flags: {
    admin: flag.text('user name of the first administrator', 'NAME'),
    ...passwordFlags,
    new: flag.switch('start over if the database is lost; what is left of it is moved aside'),
  },
  examples: [
    'svc init',
    'svc init --admin ada --generate',
    'svc init --data-dir /srv/svc --admin ada --password-file admin.txt',
  ],
  async run({ io, globals, domain: { accounts, instance }, directory, flags }) {
    const place = { data_dir: directory.path, config: directory.config }
    const admins = (await accounts.list({ role: 'admin' })).map(({ username }) => username)
    if (admins.length > 0) {
      const others = admins.join(', ')
      if (flags.admin !== undefined && !admins.includes(flags.admin.toLowerCase())) {
        const text = `There is already an administrator (${others}): svc user add ${flags.admin} --role admin adds another one.`
        throw new Exit(6, text, 'exists')
      }
      await writeFirstConfig(directory)
      io.print(`${directory.path} is already prepared; administrator: ${others}.`, { ...place, created: false, admins })
      return
    }
    const name = flags.admin ?? (await io.ask('User name of the first administrator:', '--admin'))
    const chosen = await readNewPassword(io, flags, name)
    const { username } = await accounts.create({ username: name, password: chosen.password, role: 'admin' })
    await writeFirstConfig(directory)
    const text = `Prepared ${directory.path} with ${username} as administrator.`
    const next = `\nNext: ${commandLine(globals, ['serve'])}\nThen sign in as ${username} at ${(await signInAddress(instance)) ?? 'the address that it prints'}`
    printWithPassword(io, chosen, text, { ...place, created: true, admins: [username] }, next)
  },
})

/** Writes a config.json with the most common settings, unless there is one. */
async function writeFirstConfig(directory: DataDirectory): Promise<void> {
  if (existsSync(directory.config)) return
  const { options } = await import('../../domain/instance/instance.ts')
  const { changeConfigFile } = await import('../../wiring/installation/data-directory.ts')
  await changeConfigFile(directory, (values) => ({
    host: options.host.standard,
    port: options.port.standard,
    ...values,
  }))
}
