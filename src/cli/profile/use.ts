import { command } from '../command.ts'
import { Exit } from '../exit.ts'

export const use = command({
  name: 'profile use',
  summary: 'Choose the account that commands use',
  needs: 'nothing',
  args: { name: 'name of the profile' },
  flags: {},
  examples: ['svc profile use work'],
  async run({ io, globals, args: { name } }) {
    const { changeCredentials } = await import('../../client/auth/credentials.ts')
    let url = ''
    await changeCredentials(globals.env, (credentials) => {
      const profile = Object.hasOwn(credentials.profiles, name) ? credentials.profiles[name] : undefined
      if (!profile)
        throw new Exit(5, `There is no profile ${name}: svc profile list shows them, svc login adds one.`, 'not_found')
      credentials.current = name
      url = profile.url
    })
    io.print(`Commands now use the profile ${name} (${url}).`, { profile: name, url })
  },
})
