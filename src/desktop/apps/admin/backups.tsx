import { bridge } from '../../kit/bridge.ts'
import { formatDateTime, formatNumber, formatSize } from '../../kit/formats.ts'
import type { AnswerOf } from '../../wire/actions.ts'
import { BackupJobs } from './backup-controls.tsx'
import { BackupSettings, ScheduleText } from './backup-dialogs.tsx'
import { Badge, DescriptionList, QueryResult, Table } from './controls.tsx'
import { useLiveQuery } from './live-query.ts'
import { words } from './words.ts'

type State = AnswerOf<'admin.backups'>

const describeBackup = (backup: State['last']): string => (backup ? `${formatDateTime(backup.at)} · ${backup.id}` : '')

const LastBackup = ({ state: { last, overdue, in_future, stored_count } }: { state: State }) => (
  <>
    {last ? (
      describeBackup(last)
    ) : (
      <Badge tone="bad">{words(stored_count > 0 ? 'none_of_this_installation' : 'none_yet')}</Badge>
    )}{' '}
    {overdue && <Badge tone="bad">{words('overdue')}</Badge>}
    {in_future && <Badge tone="bad">{words('in_future')}</Badge>}
  </>
)

const SuggestedCommands = ({ state: { place } }: { state: State }) => (
  <section>
    <h3>{words('on_the_server')}</h3>
    <p class="soft">{words('on_the_server_text')}</p>
    <ul class="commands">
      {place === null && (
        <li>
          {words('to_place')} <code>svc config set backup.to DIR</code>
        </li>
      )}
      <li>
        {words('to_restore')} <code>svc backup restore latest --data-dir DIR</code>
      </li>
    </ul>
  </section>
)

const StreamState = ({ stream: { at, running, problem } }: { stream: NonNullable<State['stream']> }) => (
  <>
    {running ? words('stream_running') : <Badge tone="bad">{words('stream_ended')}</Badge>}{' '}
    {at !== null && words('stream_at', formatDateTime(at))}
    {problem !== null && <span lang="en"> {problem}</span>}
  </>
)

const StoredBackups = ({ state: { stored, stored_count } }: { state: State }) => (
  <section>
    <h3>{words('stored')}</h3>
    <Table
      label={words('stored')}
      head={[
        { title: words('made') },
        { title: words('backup'), wide: true },
        { title: words('accounts'), end: true },
        { title: words('files'), wide: true, end: true },
        { title: words('size'), end: true },
        { title: words('added_by_it'), wide: true, end: true },
        { title: words('version'), wide: true },
      ]}
    >
      {stored.map(({ id, created_at, accounts, files, bytes, added_bytes, version }) => (
        <tr key={id}>
          <td>{formatDateTime(created_at)}</td>
          <td class="only-wide">{id}</td>
          <td class="end">{formatNumber(accounts)}</td>
          <td class="end only-wide">{formatNumber(files)}</td>
          <td class="end">{formatSize(bytes)}</td>
          <td class="end only-wide">{formatSize(added_bytes)}</td>
          <td class="only-wide">{version}</td>
        </tr>
      ))}
    </Table>
    {stored_count > stored.length && <p class="soft">{words('and_older', stored_count - stored.length)}</p>}
  </section>
)

/** The state of backups, their settings, and what can be started here. Places and restores are for the command line. */
export function Backups() {
  const shown = useLiveQuery(() => bridge.call('admin.backups', {}), { interval: 60_000 })
  return (
    <QueryResult of={shown}>
      {(state) => (
        <>
          <BackupJobs hasPlace={state.place !== null} onEnd={shown.reload} />
          <DescriptionList
            of={[
              [words('last_backup'), <LastBackup state={state} />],
              ...(state.failed
                ? [[words('failed'), `${formatDateTime(state.failed.at)}: ${state.failed.message}`] as const]
                : []),
              [
                words('next_backup'),
                state.paused ? (
                  <Badge tone="warn">{words('paused')}</Badge>
                ) : state.next_at === null ? (
                  words('no_schedule')
                ) : (
                  formatDateTime(state.next_at)
                ),
              ],
              [
                words('proven'),
                state.proven ? describeBackup(state.proven) : <Badge tone="warn">{words('never_proven')}</Badge>,
              ],
              [words('schedule'), <ScheduleText state={state} />],
              [words('place'), state.place ?? words('not_set')],
              [words('keeps'), words('keeps_text', state.keep)],
              ...(state.stream ? [[words('stream'), <StreamState stream={state.stream} />] as const] : []),
            ]}
          />
          <BackupSettings state={state} onDone={shown.reload} />
          {state.trouble !== null && (
            <p class="problem" lang="en">
              {state.trouble}
            </p>
          )}
          {state.stored.length > 0 && <StoredBackups state={state} />}
          <SuggestedCommands state={state} />
        </>
      )}
    </QueryResult>
  )
}
