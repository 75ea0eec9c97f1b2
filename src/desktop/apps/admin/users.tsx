import { UserPlus, Users as UsersIcon } from 'lucide'
import { useEffect, useRef, useState } from 'preact/hooks'
import { useBackLevels } from '../../kit/back-levels.ts'
import { bridge } from '../../kit/bridge.ts'
import { Button } from '../../kit/button.tsx'
import { SearchField, Select } from '../../kit/field.tsx'
import { formatSize, formatWhen } from '../../kit/formats.ts'
import { EmptyState } from '../../kit/empty-state.tsx'
import type { AnswerOf, ParamsOf } from '../../wire/actions.ts'
import { AddUser } from './add-user.tsx'
import { Badge, Pager, QueryResult, StateBadge, Table } from './controls.tsx'
import { useLiveQuery } from './live-query.ts'
import { UserPage } from './user-page.tsx'
import { openUser, showPage, showUser } from './navigation.ts'
import { words } from './words.ts'

type ListedUser = AnswerOf<'admin.users'>['users'][number]

const PAGE_SIZE = 50
/** Delay from the last input to searching, ms. */
const SEARCH_DELAY = 250

const filters = {
  everybody: {},
  administrators: { role: 'admin' },
  disabled_ones: { state: 'disabled' },
  locked_ones: { state: 'locked' },
  without_2fa: { without_2fa: true },
  inactive: { inactive_days: 90 },
} as const satisfies Record<string, ParamsOf<'admin.users'>>
type Filter = keyof typeof filters

const orders = ['name', 'seen', 'used', 'percent', 'created'] as const
type Order = (typeof orders)[number]

function Row({ user, onOpen }: { user: ListedUser; onOpen: () => void }) {
  const { username, display_name, avatar_color, role, quota_percent, last_seen_at } = user
  return (
    <tr>
      <th scope="row">
        <button type="button" class="who" id={`user-${user.id}`} onClick={onOpen}>
          <span class="dot" style={{ background: avatar_color }} aria-hidden="true" />
          <span>
            <strong>{display_name}</strong>
            <small>{username}</small>
          </span>
        </button>
      </th>
      <td>
        {user.state !== 'active' && <StateBadge state={user.state} />}{' '}
        {role === 'admin' && <Badge tone="warn">{words('role_admin')}</Badge>}
      </td>
      <td class="end only-wide">
        {formatSize(user.used_bytes)}
        {quota_percent !== null && <small> · {quota_percent} %</small>}
      </td>
      <td class="only-wide">{words(user.two_factor ? 'yes' : 'no')}</td>
      <td class="end only-wide">{user.device_count}</td>
      <td class="end">{last_seen_at === null ? words('never') : formatWhen(last_seen_at)}</td>
    </tr>
  )
}

/** The list of accounts, with search and filters. */
function UserList({
  state: [view, setView],
  onOpen,
}: {
  state: [View, (view: View) => void]
  onOpen: (id: number) => void
}) {
  const [typed, setTyped] = useState(view.search)
  const [isAdding, setAdding] = useState(false)
  const { filter, order, search, offset } = view
  const shown = useLiveQuery(
    () =>
      bridge.call('admin.users', {
        ...filters[filter],
        ...(search === '' ? {} : { search }),
        sort: order,
        limit: PAGE_SIZE,
        offset,
      }),
    { key: JSON.stringify(view), interval: 30_000 },
  )
  useEffect(() => {
    if (typed.trim() === search) return undefined
    const timer = setTimeout(() => setView({ ...view, search: typed.trim(), offset: 0 }), SEARCH_DELAY)
    return () => clearTimeout(timer)
  }, [typed])
  return (
    <>
      <div class="filters">
        <SearchField label={words('search_users')} value={typed} maxLength={100} onText={setTyped} />
        <Select
          label={words('show')}
          value={filter}
          options={Object.keys(filters).map((value) => ({ value, label: words(value as Filter) }))}
          onChange={({ currentTarget }) => setView({ ...view, filter: currentTarget.value as Filter, offset: 0 })}
        />
        <Select
          label={words('order')}
          value={order}
          options={orders.map((value) => ({ value, label: words(`order_${value}`) }))}
          onChange={({ currentTarget }) => setView({ ...view, order: currentTarget.value as Order, offset: 0 })}
        />
        <Button kind="main" icon={UserPlus} onClick={() => setAdding(true)}>
          {words('add_user')}
        </Button>
      </div>
      <QueryResult of={shown}>
        {({ users, total }) =>
          total === 0 ? (
            <EmptyState icon={UsersIcon} title={words('nobody')} />
          ) : (
            <>
              <Table
                label={words('users')}
                head={[
                  { title: words('user') },
                  { title: words('state') },
                  { title: words('storage'), wide: true, end: true },
                  { title: words('two_factor'), wide: true },
                  { title: words('devices'), wide: true, end: true },
                  { title: words('last_seen'), end: true },
                ]}
              >
                {users.map((user) => (
                  <Row key={user.id} user={user} onOpen={() => onOpen(user.id)} />
                ))}
              </Table>
              <Pager {...{ offset, total }} size={PAGE_SIZE} onMove={(to) => setView({ ...view, offset: to })} />
            </>
          )
        }
      </QueryResult>
      {isAdding && <AddUser onClose={() => setAdding(false)} onAdded={onOpen} />}
    </>
  )
}

interface View {
  search: string
  filter: Filter
  order: Order
  offset: number
}

/** The list of accounts, or one account. */
export function Users() {
  const view = useState<View>({ search: '', filter: 'everybody', order: 'name', offset: 0 })
  const open = openUser.value
  const before = useRef<number | undefined>(undefined)
  useEffect(() => {
    // Restore the focus when returning to the list.
    if (open === undefined && before.current !== undefined)
      document.querySelector<HTMLElement>(`#user-${before.current}`)?.focus()
    before.current = open
  }, [open])
  const close = () => showPage('users')
  useBackLevels(open === undefined ? 0 : 1, close)
  if (open !== undefined) return <UserPage key={open} id={open} onBack={close} />
  return <UserList state={view} onOpen={showUser} />
}
