import { printable } from '../../base/text.ts'
import type { Api } from '../../client/api.ts'
import type { Account } from '../../client/auth/credentials.ts'
import type { MaxDelete, Summary, SyncEvent, WatchEvent } from '../../client/sync/index.ts'
import { pluralize } from '../../base/counts.ts'
import { Exit, type ExitCode } from '../exit.ts'
import { interrupted, interruptible } from '../interruption.ts'
import type { Io } from '../io.ts'
import { makeRunReport } from './run-report.ts'

export interface WatchOptions {
  io: Io
  api: Api
  account: Account
  stateFolder: string
  roots: readonly string[]
  maxDelete: MaxDelete | undefined
}

const ending = (signal: NodeJS.Signals): Exit =>
  signal === 'SIGTERM'
    ? new Exit(0, 'Watching ended.', 'ended')
    : interrupted('Watching ended: what was done stays done.')

/** Keeps folders synchronised until it is interrupted (exit code 130) or asked to end (0). */
export async function watchFolders({
  io,
  api,
  account,
  stateFolder,
  roots,
  maxDelete,
}: WatchOptions): Promise<ExitCode> {
  const { systemClock } = await import('../../base/clock.ts')
  const { sleep } = await import('../../base/sleep.ts')
  const { runSync, lockWatched, watchRoots, makeReplicaWatch } = await import('../../client/sync/index.ts')
  const release = lockWatched(roots)
  const report = makeWatchReport(io, roots)
  const given = { stateFolder, api, account, dryRun: false, rows: true, sleep, clock: systemClock, maxDelete }
  try {
    return await interruptible(ending, (signal) =>
      watchRoots({
        roots,
        api,
        clock: systemClock,
        sleep,
        random: Math.random,
        signal,
        emit: report.watch,
        rows: makeReplicaWatch({
          stateFolder,
          account,
          clock: systemClock,
          line: { api, signal, throttle: (_, request) => request() },
          sent: (sent, rejected) => report.watch({ event: 'rows', sent, rejected }),
        }),
        async run(path, heard, signal) {
          const run = report.run(path)
          try {
            const summary = await runSync({
              ...given,
              path,
              signal,
              onFeedPosition: heard,
              emit: run.event,
            })
            run.summary(summary)
            return summary
          } finally {
            run.end()
          }
        },
      }),
    )
  } catch (error) {
    if (error instanceof Exit && error.code === 0) return 0
    throw error
  } finally {
    release()
  }
}

const words = (event: WatchEvent): string => {
  switch (event.event) {
    case 'watching':
      return `Watching ${printable(event.root)}`
    case 'offline':
      return `The server is not reachable; waiting for it: ${event.message}`
    case 'online':
      return 'The server is reachable again.'
    case 'paused':
      return `${printable(event.root)} is skipped for now: ${event.message}`
    case 'resumed':
      return `${printable(event.root)} is in order again.`
    case 'rows':
      return [
        ...(event.sent > 0 ? [`Sent ${pluralize(event.sent, 'queued change')} of rows.`] : []),
        ...(event.rejected > 0
          ? [`${pluralize(event.rejected, 'change')} of rows could not be applied: svc sync conflicts shows why.`]
          : []),
      ].join(' ')
    case 'blind':
      return `The system does not report every change in ${printable(event.root)} (${printable(event.message)}): it is scanned every minute.`
  }
}

/** Reports events, but not runs without changes. */
function makeWatchReport(io: Io, roots: readonly string[]) {
  const leftAlone = new Map<string, string>()
  let last: string | undefined

  function header(root: string): void {
    if (io.json || roots.length === 1 || last === root) return
    last = root
    io.event(io.paint.bold(printable(root)), undefined)
  }

  return {
    watch(event: WatchEvent): void {
      if (io.json) io.event('', event)
      else io.info(words(event))
    },
    run(root: string) {
      const show = makeRunReport(io)
      let did = false
      return {
        event(event: SyncEvent): void {
          const idle = ['started', 'planned', 'skipped', 'bytes']
          if (event.event === 'done') {
            did = true
            header(root)
          }
          if (!io.json) show.event(event)
          else if (!idle.includes(event.event)) io.event('', { ...event, root })
        },
        summary(summary: Summary): void {
          const skipped = JSON.stringify(summary.skipped)
          const news = skipped !== (leftAlone.get(root) ?? '[]')
          leftAlone.set(root, skipped)
          if (!did && !(news && summary.skipped.length > 0)) return
          header(root)
          show.summary(summary)
        },
        end: show.end,
      }
    },
  }
}
