import { pluralize } from '../../base/counts.ts'
import { command, flag } from '../command.ts'
import { usage } from '../exit.ts'
import { parseTime } from '../time-format.ts'
import { documentOf, stateText } from './state-text.ts'

export const on = command({
  name: 'maintenance on',
  summary: 'Let only administrators in, or make everything read-only',
  details:
    'Takes effect at once, also for a running server. All browser sessions end, including those of administrators. Devices stay signed in and continue ' +
    'by themselves when it is over. With --read-only nobody is signed out: all users can sign in, read and download.\n' +
    'Run it again to change the message, the end or the kind. With --until, maintenance ends by itself; a time of day means the next such time on this machine.',
  needs: 'domain',
  args: {},
  flags: {
    message: flag.text('message to users, one line', 'TEXT'),
    until: flag.text('end: 15:00, 30m or 2026-11-21T15:00', 'WHEN'),
    readOnly: flag.switch('let all users read'),
  },
  examples: [
    'svc maintenance on',
    'svc maintenance on --until 15:00 --message "New disks, back at three."',
    'svc maintenance on --read-only --until 30m',
  ],
  async run({ io, domain: { instance }, flags }) {
    const { systemClock } = await import('../../base/clock.ts')
    const until = flags.until === undefined ? null : endOf(flags.until, systemClock.now())
    const declared = { message: flags.message ?? '', until, read_only: flags.readOnly }
    const { sessions, before } = await instance.maintenance.begin(declared)
    const lines = [stateText(declared), ...(sessions > 0 ? [`${pluralize(sessions, 'session')} ended.`] : [])]
    io.print(lines.join('\n'), { ...documentOf(declared), was_on: before !== undefined, sessions_ended: sessions })
  },
})

function endOf(text: string, now: number): number {
  const until = parseTime(text, now, 'ahead')
  if (until === undefined)
    throw usage(
      `--until must be a time such as 15:00, a duration such as 30m, or a date such as 2026-11-21T15:00, not "${text}".`,
    )
  if (until <= now) throw usage(`--until must be in the future, and "${text}" is past.`)
  return until
}
