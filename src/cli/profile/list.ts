import { command } from '../command.ts'

export const list = command({
  name: 'profile list',
  summary: 'List the accounts stored on this machine',
  needs: 'nothing',
  onlyPrints: true,
  args: {},
  flags: {},
  examples: ['svc profile list'],
  async run({ io, globals }) {
    const { readCredentials } = await import('../../client/auth/credentials.ts')
    const { current, profiles } = await readCredentials(globals.env)
    const rows = Object.entries(profiles).map(([name, { url, username, device_name, token }]) => ({
      name,
      current: name === current,
      url,
      username,
      device_name,
      signed_in: token !== undefined,
    }))
    io.table(
      rows,
      [
        { title: '', value: (row) => (row.current ? '*' : '') },
        { title: 'PROFILE', value: (row) => row.name },
        { title: 'USER', value: (row) => row.username },
        { title: 'SERVER', value: (row) => row.url },
        { title: 'DEVICE', value: (row) => row.device_name },
        { title: 'STATE', value: (row) => (row.signed_in ? 'signed in' : 'signed out') },
      ],
      'No profiles: svc login URL adds the first.',
    )
    if (globals.env['SVC_URL'] && globals.env['SVC_TOKEN'])
      io.info('SVC_URL and SVC_TOKEN are set: commands use them instead.')
  },
})
