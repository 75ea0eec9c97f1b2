import { ScrollText } from 'lucide'
import { useEffect, useState } from 'preact/hooks'
import { bridge } from '../../kit/bridge.ts'
import { Button } from '../../kit/button.tsx'
import { SearchField, Select, TextField } from '../../kit/field.tsx'
import { formatDateTime } from '../../kit/formats.ts'
import { useMutation } from '../../kit/query.ts'
import { EmptyState } from '../../kit/empty-state.tsx'
import type { AnswerOf } from '../../wire/actions.ts'
import { detailText } from './audit-detail.ts'
import { groups, eventTitle, type Group } from './audit-words.ts'
import { QueryResult, Table } from './controls.tsx'
import { describeAdminError } from './error-texts.ts'
import { useLiveQuery } from './live-query.ts'
import { words } from './words.ts'

type Entry = AnswerOf<'admin.audit'>['entries'][number]

const PAGE_SIZE = 50
/** Delay from the last input to searching, ms. */
const SEARCH_DELAY = 250

interface View {
  user: string
  group: Group
  since: string
}

const Row = ({ entry }: { entry: Entry }) => (
  <tr>
    <td>
      <time dateTime={entry.at}>{formatDateTime(entry.at)}</time>
    </td>
    <td>
      {eventTitle(entry.kind)}
      <small class="detail">{detailText(entry.detail)}</small>
    </td>
    <td class="name">{entry.actor}</td>
    <td class="name">{entry.target !== entry.actor && entry.target}</td>
    <td class="only-wide">{entry.ip}</td>
  </tr>
)

function Filters({ view, setView }: { view: View; setView: (view: View) => void }) {
  const [typed, setTyped] = useState(view.user)
  useEffect(() => {
    if (typed.trim() === view.user) return undefined
    const timer = setTimeout(() => setView({ ...view, user: typed.trim() }), SEARCH_DELAY)
    return () => clearTimeout(timer)
  }, [typed])
  return (
    <div class="filters">
      <SearchField label={words('audit_user')} value={typed} maxLength={100} onText={setTyped} />
      <Select
        label={words('about')}
        value={view.group}
        options={groups.map((value) => ({ value, label: words(`group_${value}`) }))}
        onChange={({ currentTarget }) => setView({ ...view, group: currentTarget.value as Group })}
      />
      <TextField
        label={words('since')}
        type="date"
        value={view.since}
        onText={(value) => setView({ ...view, since: value })}
      />
    </div>
  )
}

export function Audit() {
  const [view, setView] = useState<View>({ user: '', group: 'all', since: '' })
  // Pages after the first; while there are some, the first is not refreshed.
  const [more, setMore] = useState<{ after: string; entries: readonly Entry[]; next: string | null } | undefined>(
    undefined,
  )
  const fetchPage = (after?: string) =>
    bridge.call('admin.audit', {
      limit: PAGE_SIZE,
      ...(view.user === '' ? {} : { user: view.user }),
      ...(view.group === 'all'
        ? {}
        : { kinds: view.group === 'entry' ? 'login.*,2fa.*,token.*,session.*' : `${view.group}.*` }),
      ...(view.since === '' ? {} : { since: new Date(`${view.since}T00:00`).toISOString() }),
      ...(after === undefined ? {} : { after }),
    })
  const shown = useLiveQuery(() => fetchPage(), { key: JSON.stringify(view), interval: more ? undefined : 15_000 })
  const first = shown.value?.next ?? undefined
  const isContinued = more !== undefined && more.after === first
  const next = isContinued ? more.next : (first ?? null)
  const older = useMutation(async () => {
    const page = await fetchPage(next!)
    setMore({ after: first!, entries: [...(isContinued ? more.entries : []), ...page.entries], next: page.next })
  })
  return (
    <>
      <Filters
        view={view}
        setView={(changed) => {
          setMore(undefined)
          setView(changed)
        }}
      />
      <QueryResult of={shown}>
        {({ entries }) =>
          entries.length === 0 ? (
            <EmptyState icon={ScrollText} title={words('no_entries')} />
          ) : (
            <Table
              label={words('audit')}
              head={[
                { title: words('when') },
                { title: words('what') },
                { title: words('who') },
                { title: words('whom') },
                { title: words('address'), wide: true },
              ]}
            >
              {[...entries, ...(isContinued ? more.entries : [])].map((entry) => (
                <Row key={entry.entry_id} entry={entry} />
              ))}
            </Table>
          )
        }
      </QueryResult>
      {older.error !== undefined && <p class="problem">{describeAdminError(older.error)}</p>}
      {next !== null && (
        <div class="action-row">
          <Button busy={older.busy} onClick={older.start}>
            {words('older')}
          </Button>
        </div>
      )}
    </>
  )
}
