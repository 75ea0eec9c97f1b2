import { pluralize } from '../../base/counts.ts'
import { formatDuration } from '../../base/durations.ts'
import type { StreamState } from '../../domain/backups/streaming.ts'
import { warnIfInside } from './inside-warning.ts'
import { command, flag } from '../command.ts'
import { Exit, usage } from '../exit.ts'
import { interruptible } from '../interruption.ts'
import type { Io } from '../io.ts'
import { passphraseFlags, passphraseSource } from '../backup-source.ts'

const DAYS = 7

const missingText = (count: number): string =>
  `${pluralize(count, 'content')} cannot be read, and ${count === 1 ? 'is' : 'are'} missing in the stream: svc storage check names the files.`

/** Says when the stream has begun, and when the place goes away or returns. */
function reporter(io: Io): (state: StreamState) => void {
  let hasBegun = false
  let problem: string | undefined
  let missing = 0
  return (state) => {
    if (state.missing > missing) io.warn(missingText(state.missing))
    missing = state.missing
    if (state.problem !== problem) {
      problem = state.problem
      if (problem === undefined) io.event(`${state.place} is written again.`, { event: 'returned', place: state.place })
      else io.warn(`${problem} The changes follow when it can be written.`)
    }
    if (hasBegun || state.since === undefined) return
    hasBegun = true
    io.event(`Streaming to ${state.place}. From now on, at most a second of work is lost.`, {
      event: 'streaming',
      place: state.place,
      pid: process.pid,
    })
  }
}

export const stream = command({
  name: 'backup stream',
  summary: 'Copy every change to a folder of backups within a second, until it is stopped',
  details:
    'Runs beside the server, which may restart meanwhile, and only reads. The folder is one of backups, new or existing, ' +
    'with the same key. First the whole database is copied, then what changes, about three times a second; contents of ' +
    'files always before what refers to them. Every day a new copy begins, and changes older than --days are removed. In an S3 bucket (s3://…) a record is stored once a second, and a copy begins every hour.\n\n' +
    'While the folder is away or full, nothing is slowed down: the stream catches up later. svc doctor and /metrics show how far behind it is.\n\n' +
    'To restore, name a moment instead of a backup: svc backup restore stream, or svc backup restore "2026-11-26 14:05:07".',
  needs: 'backup',
  args: {},
  flags: {
    to: flag.text('folder or bucket of backups (the setting backup.to)', 'DIR'),
    days: flag.integer(`days that can be restored (${DAYS})`, 'N', 1, 3_650),
    encrypt: flag.switch('encrypt a new folder of backups with a passphrase'),
    ...passphraseFlags,
    new: flag.switch('start over where earlier backups are gone'),
    status: flag.switch('show how far behind the stream is'),
    forget: flag.switch('forget a stream that has ended, so that svc doctor does not miss it'),
  },
  examples: [
    'svc backup stream --to /mnt/backup/svc',
    'svc backup stream --to /mnt/backup/svc --days 30',
    'svc backup stream --status',
  ],
  async run({ io, globals, domain, directory, flags }) {
    if (flags.status || flags.forget) {
      const wiring = await import('../../wiring/backup-stream-status.ts')
      const status = await wiring.streamStatus(directory)
      if (!status) throw new Exit(5, 'There is no stream of this installation.', 'not_found')
      if (flags.forget) {
        if (status.isRunning) throw new Exit(6, `The stream to ${status.place} is running: stop process ${status.pid}.`)
        await wiring.forgetStream(directory)
        io.print(`Forgot the stream to ${status.place}. What it stored stays.`, { forgotten: status.place })
        return 0
      }
      const lag = status.at === null ? undefined : Date.now() - status.at
      const age = lag === undefined ? 'its first copy is not complete' : `${formatDuration(Math.max(lag, 0))} behind`
      const words = `The stream to ${status.place} ${status.isRunning ? 'is running' : 'has ended'}, ${age}.`
      const more = [status.problem, status.missing > 0 ? missingText(status.missing) : null].filter(
        (text) => text !== null,
      )
      io.print([words, ...more].join(' '), { ...status, lag_ms: lag ?? null })
      return status.isRunning && more.length === 0 && Math.abs(lag ?? 0) <= wiring.LATE ? 0 : 3
    }
    const to = flags.to ?? ((await domain.instance.settings.values())['backup.to'] || undefined)
    if (to === undefined) throw usage('Give a folder: --to DIR, or svc config set backup.to DIR.')
    await warnIfInside(io, to, directory)
    const { streamBackups } = await import('../../wiring/backups/stream.ts')
    const options = { to, encrypt: flags.encrypt, startsOver: flags.new, days: flags.days ?? DAYS }
    const context = { passphrases: passphraseSource(io, flags), env: globals.env }
    await interruptible(
      () => new Exit(0, 'Stopped.', 'stopped'),
      (signal) => streamBackups({ domain, directory }, options, context, reporter(io), signal),
    )
    return 0
  },
})
