import { command, flag } from '../command.ts'
import { usage } from '../exit.ts'
import type { Bell } from './screen/screen.ts'

export const chat = command({
  name: 'chat',
  summary: 'Talk to the team, in a full-screen terminal',
  details:
    "A room is given by its name, by '#id', or by @user for a direct conversation. ? or F1 shows all keys. The terminal bell rings for messages in other rooms, " +
    'or while the terminal does not have the focus, if they are direct messages or mention you; --bell changes ' +
    'that. --notify runs a command for such messages, without a shell: it gets the message on standard input, the room in SVC_CHAT_ROOM and the sender in ' +
    'SVC_CHAT_FROM. For scripts there are send, read, tail, wait and other commands.',
  needs: 'server',
  args: { room: { summary: "room to open first: name, '#id' or @user", optional: true } },
  flags: {
    bell: flag.choice('which messages of others ring the bell', 'mentions|all|none', ['mentions', 'all', 'none']),
    notify: flag.text('command to run for messages that ring the bell', 'COMMAND'),
  },
  examples: ['svc chat', 'svc chat engines', 'svc chat @ada --bell all', 'svc chat --notify ~/bin/show-message'],
  async run({ io, globals, api, account, args, flags }) {
    if (io.json || !process.stdin.isTTY || !process.stdout.isTTY)
      throw usage('svc chat needs a terminal: scripts use svc chat send, read, tail and wait.')
    const { runScreen } = await import('./screen/screen.ts')
    const { findAccount, openApi } = await import('../../client/auth/credentials.ts')
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
        // Another account may have signed in under that profile.
        if (!now || now.token === token || now.username !== account.username || now.url !== account.url)
          return undefined
        token = now.token
        return openApi(now)
      },
    })
  },
})
