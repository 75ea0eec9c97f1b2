import { command, flag } from '../command.ts'

export const init = command({
  name: 'sync init',
  summary: 'Make a folder one that is kept in step with the account',
  details:
    'The folder is made when it is missing; files that are in it are compared with those of the account at the first svc sync, and ' +
    'nothing is deleted. --adopt takes over a folder that was set up before, on another machine or by an installation that is gone.',
  needs: 'server',
  args: { dir: 'folder to synchronise' },
  flags: { adopt: flag.switch('take over a folder that was set up before') },
  examples: ['svc sync init ~/cloud', 'svc sync init /mnt/disk/cloud --adopt'],
  async run({ io, globals, api, account, args, flags }) {
    const { userFolder } = await import('../../host/folders.ts')
    const { credentialsFile } = await import('../../client/credentials.ts')
    const { identify } = await import('../../client/account-identity.ts')
    const { initRoot } = await import('../../client/sync/index.ts')
    const { server_id, user_id, username, device_name } = await identify(api)
    const { path, created } = await initRoot({
      path: args.dir,
      stateFolder: userFolder('state', globals.env),
      owner: { server_id, user_id },
      url: account.url,
      username,
      device_name,
      adopt: flags.adopt,
      secrets: [credentialsFile(globals.env)],
    })
    const words = created
      ? `${path} is now kept in step with ${username} at ${account.url}. To bring both together: svc sync ${args.dir}`
      : `${path} is kept in step with ${username} at ${account.url} already.`
    io.print(words, { root: path, created, url: account.url, username })
  },
})
