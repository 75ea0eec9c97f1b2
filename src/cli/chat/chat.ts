import { command, flag } from '../command.ts'
import { usage } from '../exit.ts'
import type { Bell } from './screen/screen.ts'

export const chat = command({
  name: 'chat',
  summary: 'Talk to the team, on the whole terminal',
  details:
    "Rooms are named by their name, by '#id', or by @user for a direct conversation. ? or F1 shows all keys. What is said in other rooms, " +
    'or while the terminal has not the focus, rings its bell: only when it is said to you alone or names you, unless --bell says ' +
    'otherwise. --notify runs a command for it, without a shell: the message is its standard input, SVC_CHAT_ROOM and SVC_CHAT_FROM say ' +
    'where and by whom. For scripts there are send, read, tail, wait and the rest.',
  needs: 'server',
  args: { room: { summary: "room to begin with: name, '#id' or @user", optional: true } },
  flags: {
    bell: flag.choice('which messages of others ring', 'mentions|all|none', ['mentions', 'all', 'none']),
    notify: flag.text('command to run for messages that ring', 'COMMAND'),
  },
  examples: ['svc chat', 'svc chat engines', 'svc chat @ada --bell all', 'svc chat --notify ~/bin/show-message'],
  async run({ io, globals, api, account, args, flags }) {
    if (io.json || !process.stdin.isTTY || !process.stdout.isTTY)
      throw usage('svc chat needs a terminal: scripts use svc chat send, read, tail and wait.')
    const { runScreen } = await import('./screen/screen.ts')
    const { findAccount, openApi } = await import('../../client/credentials.ts')
    const bell: Bell = flags.bell ?? 'mentions'
    let { token } = account
    return runScreen({
      api,
      paint: io.paint,
      env: globals.env,
      first: args.room,
      bell,
      notify: flags.notify,
      async renew() {
        const now = await findAccount({ env: globals.env, profile: account.profile || globals.profile }).catch(
          () => undefined,
        )
        // Whoever else signed in under that profile is somebody else here too.
        if (!now || now.token === token || now.username !== account.username || now.url !== account.url)
          return undefined
        token = now.token
        return openApi(now)
      },
    })
  },
})
