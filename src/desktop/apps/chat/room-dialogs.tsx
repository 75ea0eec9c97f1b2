import { useEffect, useState } from 'preact/hooks'
import { bridge } from '../../kit/bridge.ts'
import { Button } from '../../kit/button.tsx'
import { Dialog } from '../../kit/dialog.tsx'
import { Problem, SearchField, TextField } from '../../kit/field.tsx'
import { compareNames } from '../../kit/formats.ts'
import { toastError } from '../../kit/toast.tsx'
import { describeError } from '../../kit/api-error.ts'
import { common } from '../../kit/words.ts'
import { Avatar } from './avatar.tsx'
import { creating } from './room-list.tsx'
import { roomDialog } from './room.tsx'
import {
  current,
  loadPeople,
  me,
  people,
  putRoom,
  room,
  openDirectMessage,
  type ChatRoom,
  type Person,
} from './store.ts'
import { words } from './words.ts'

/** Selects users: several, or one if `onPick` is given. */
function People({
  without,
  chosen,
  onToggle,
  onPick,
}: {
  without: ReadonlySet<number>
  chosen?: ReadonlySet<number>
  onToggle?: (id: number) => void
  onPick?: (person: Person) => void
}) {
  const [query, setQuery] = useState('')
  useEffect(() => void loadPeople().catch(toastError), [])
  const wanted = query.trim().toLowerCase()
  const others = people.value.filter(({ id }) => !without.has(id))
  const found = others
    .filter(({ username, display_name }) => `${display_name}\n${username}`.toLowerCase().includes(wanted))
    .toSorted((a, b) => compareNames(a.display_name, b.display_name))
  return (
    <div class="people">
      <SearchField
        label={words('find_people')}
        value={query}
        data-first={onPick ? '' : undefined}
        onText={setQuery}
        onKeyDown={(event) => {
          if (event.key !== 'Enter') return
          event.preventDefault()
          const [first] = found
          if (first && wanted !== '') (onPick ?? (({ id }: Person) => onToggle?.(id)))(first)
        }}
      />
      {found.length === 0 && <p class="nobody">{words(others.length === 0 ? 'nobody' : 'nobody_found')}</p>}
      <ul class="panel-list">
        {found.slice(0, 200).map((person) => (
          <li key={person.id}>
            {onPick ? (
              <button type="button" class="person" onClick={() => onPick(person)}>
                <Avatar of={person} dot />
                <span>{person.display_name}</span>
                <small>@{person.username}</small>
              </button>
            ) : (
              <label class="person">
                <Avatar of={person} dot />
                <span>{person.display_name}</span>
                <small>@{person.username}</small>
                <input type="checkbox" checked={chosen?.has(person.id)} onChange={() => onToggle?.(person.id)} />
              </label>
            )}
          </li>
        ))}
      </ul>
    </div>
  )
}

function toggled(ids: ReadonlySet<number>, id: number): ReadonlySet<number> {
  const next = new Set(ids)
  if (!next.delete(id)) next.add(id)
  return next
}

/** Runs the form of a dialog; errors are shown in it. */
function useWork(close: () => void) {
  const [problem, setProblem] = useState<string | undefined>(undefined)
  const [isBusy, setBusy] = useState(false)
  const run = (work: () => Promise<void>) => {
    if (isBusy) return
    setBusy(true)
    setProblem(undefined)
    work()
      .then(close, (error: unknown) => setProblem(describeError(error)))
      .finally(() => setBusy(false))
  }
  return { problem, isBusy, run }
}

const Refusal = ({ text }: { text: string | undefined }) => (text === undefined ? null : <Problem>{text}</Problem>)

function NewDirect({ close }: { close: () => void }) {
  const { problem, run } = useWork(close)
  return (
    <Dialog title={words('new_direct')} onClose={close}>
      <Refusal text={problem} />
      <People without={new Set([me()])} onPick={(person) => run(() => openDirectMessage(person))} />
    </Dialog>
  )
}

function RoomForm({ one, close }: { one?: ChatRoom; close: () => void }) {
  const [name, setName] = useState(one?.name ?? '')
  const [chosen, setChosen] = useState<ReadonlySet<number>>(new Set())
  const { problem, isBusy, run } = useWork(close)
  const title = one ? words('rename') : words('new_room')

  async function save(): Promise<void> {
    const wanted = name.trim()
    const answer = one
      ? await bridge.call('teamChat.rename_room', { room_id: one.room_id, name: wanted })
      : await bridge.call('teamChat.create_room', { name: wanted, type: 'channel', participants: [...chosen] })
    putRoom(answer.room)
    current.value = answer.room.room_id
  }

  return (
    <Dialog title={title} onClose={close}>
      <form
        class="form"
        onSubmit={(event) => {
          event.preventDefault()
          run(save)
        }}
      >
        <TextField
          label={words('name')}
          data-first
          required
          maxLength={100}
          value={name}
          problem={problem}
          onText={setName}
        />
        {!one && (
          <People without={new Set([me()])} chosen={chosen} onToggle={(id) => setChosen((ids) => toggled(ids, id))} />
        )}
        <footer>
          <Button onClick={close}>{common('cancel')}</Button>
          <Button kind="main" type="submit" busy={isBusy} disabled={name.trim() === ''}>
            {one ? common('save') : words('create')}
          </Button>
        </footer>
      </form>
    </Dialog>
  )
}

function Invite({ one, close }: { one: ChatRoom; close: () => void }) {
  const [chosen, setChosen] = useState<ReadonlySet<number>>(new Set())
  const { problem, isBusy, run } = useWork(close)
  return (
    <Dialog title={words('add_people')} onClose={close}>
      <Refusal text={problem} />
      <People
        without={new Set(one.participants.map(({ id }) => id))}
        chosen={chosen}
        onToggle={(id) => setChosen((ids) => toggled(ids, id))}
      />
      <footer>
        <Button onClick={close}>{common('cancel')}</Button>
        <Button
          kind="main"
          busy={isBusy}
          disabled={chosen.size === 0}
          onClick={() =>
            run(async () => {
              const answer = await bridge.call('teamChat.invite', { room_id: one.room_id, user_ids: [...chosen] })
              putRoom(answer.room)
            })
          }
        >
          {words('add')}
        </Button>
      </footer>
    </Dialog>
  )
}

/** The open dialog, if any. */
export function RoomDialogs() {
  const end = () => {
    creating.value = undefined
    roomDialog.value = undefined
  }
  if (creating.value === 'direct') return <NewDirect close={end} />
  if (creating.value === 'room') return <RoomForm close={end} />
  if (room.value && roomDialog.value === 'rename') return <RoomForm one={room.value} close={end} />
  if (room.value && roomDialog.value === 'invite') return <Invite one={room.value} close={end} />
  return null
}
