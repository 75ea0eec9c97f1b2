import { existsSync } from 'node:fs'
import type { DataDirectory } from '../../wiring/data-directory.ts'
import { command, flag } from '../command.ts'
import { Exit } from '../exit.ts'
import { passwordFlags, printWithPassword, readNewPassword } from '../password.ts'

export const init = command({
  name: 'init',
  summary: 'Prepare a data directory: keys, configuration, first administrator',
  details: 'What is there already stays as it is, however often it is run.',
  needs: 'domain',
  makesDataDirectory: true,
  args: {},
  flags: {
    admin: flag.text('user name of the first administrator', 'NAME'),
    ...passwordFlags,
    new: flag.switch('start afresh where the database is lost; what is there is moved aside'),
  },
  examples: [
    'svc init',
    'svc init --admin ada --generate',
    'svc init --data-dir /srv/svc --admin ada --password-file admin.txt',
  ],
  async run({ io, domain: { accounts }, directory, flags }) {
    const place = { data_dir: directory.path, config: directory.config }
    const admins = (await accounts.list({ role: 'admin' })).map(({ username }) => username)
    if (admins.length > 0) {
      const others = admins.join(', ')
      if (flags.admin !== undefined && !admins.includes(flags.admin.toLowerCase())) {
        const text = `There is an administrator already (${others}): svc user add ${flags.admin} --role admin makes another one.`
        throw new Exit(6, text, 'exists')
      }
      await writeFirstConfig(directory)
      io.print(`${directory.path} is prepared already; administrator: ${others}.`, { ...place, created: false, admins })
      return
    }
    const name = flags.admin ?? (await io.ask('User name of the first administrator:', '--admin'))
    const chosen = await readNewPassword(io, flags, name)
    const { username } = await accounts.create({ username: name, password: chosen.password, role: 'admin' })
    await writeFirstConfig(directory)
    const text = `Prepared ${directory.path} with ${username} as administrator.`
    printWithPassword(io, chosen, text, { ...place, created: true, admins: [username] }, '\nNext: svc serve')
  },
})

/** Writes a config.json where there is none, with the settings that are changed first. */
async function writeFirstConfig(directory: DataDirectory): Promise<void> {
  if (existsSync(directory.config)) return
  const { options } = await import('../../domain/instance/instance.ts')
  const { writeConfigFile } = await import('../../wiring/data-directory.ts')
  await writeConfigFile(directory, { host: options.host.standard, port: options.port.standard })
}
