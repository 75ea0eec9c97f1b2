import { iso } from '../../base/clock.ts'
import { cancelled, command, flag } from '../command.ts'
import { pluralize } from '../../base/counts.ts'
import { formatTime } from '../time-format.ts'

export const sessions = command({
  name: 'user sessions',
  summary: 'List the browsers in which an account is signed in',
  details: 'With --end all of them have to sign in again. For devices with a token, see svc device list.',
  needs: 'domain',
  onlyPrints: ({ flags }) => !flags['end'],
  args: { name: 'user name' },
  flags: { end: flag.switch('end all of them'), yes: flag.yes },
  examples: ['svc user sessions ada', 'svc user sessions ada --end', 'svc user sessions ada --json'],
  async run({ io, domain: { accounts }, args, flags }) {
    const { id, username } = await accounts.byName(args.name)
    const open = await accounts.sessions.list(id)
    if (flags.end) {
      const question = `End ${pluralize(open.length, 'session')} of ${username}?`
      if (!flags.yes && !(await io.confirm(question))) throw cancelled()
      const ended = await accounts.sessions.endAll(id)
      io.print(`Ended ${pluralize(ended, 'session')} of ${username}.`, { username, sessions_ended: ended })
      return
    }
    io.table(
      open,
      [
        { title: 'ID', value: ({ session_id }) => session_id, align: 'right' },
        { title: 'SIGNED IN', value: ({ created_at }) => formatTime(created_at) },
        { title: 'LAST USED', value: ({ last_used_at }) => formatTime(last_used_at) },
        { title: 'ADDRESS', value: ({ ip }) => ip },
        { title: 'BROWSER', value: ({ user_agent }) => user_agent },
      ],
      `${username} is not signed in in any browser.`,
      open.map((session) => ({
        ...session,
        created_at: iso(session.created_at),
        last_used_at: iso(session.last_used_at),
      })),
    )
  },
})
