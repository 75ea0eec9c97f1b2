import { existsSync } from 'node:fs'
import { command, flag } from '../command.ts'

export const init = command({
  name: 'sync init',
  summary: 'Set up a folder to be kept in sync with the account',
  details:
    'The folder is created if it does not exist. The first svc sync compares files that are in it with those of the account and ' +
    'deletes nothing. --adopt takes over a folder that was set up before, on another machine or by a removed installation.',
  needs: 'server',
  args: { dir: 'folder to synchronise' },
  flags: { adopt: flag.switch('take over a folder that was set up before') },
  examples: ['svc sync init ~/cloud', 'svc sync init /mnt/disk/cloud --adopt'],
  async run({ io, globals, api, account, args, flags }) {
    const { userFolder } = await import('../../host/user-folders.ts')
    const { credentialsFile } = await import('../../client/auth/credentials.ts')
    const { identify } = await import('../../client/auth/account-identity.ts')
    const { dataDirectoryPath } = await import('../../wiring/installation/data-directory.ts')
    const { initRoot } = await import('../../client/sync/index.ts')
    const { server_id, user_id, username, device_name } = await identify(api)
    const dataDirectory = dataDirectoryPath(globals.dataDir, globals.env)
    const { path, created } = await initRoot({
      path: args.dir,
      stateFolder: userFolder('state', globals.env),
      owner: { server_id, user_id },
      url: account.url,
      username,
      device_name,
      adopt: flags.adopt,
      secrets: [credentialsFile(globals.env), ...[dataDirectory].filter((path) => existsSync(path))],
    })
    const words = created
      ? `${path} is now kept in sync with ${username} at ${account.url}. To synchronise it: svc sync ${args.dir}`
      : `${path} is already kept in sync with ${username} at ${account.url}.`
    io.print(words, { root: path, created, url: account.url, username })
  },
})
