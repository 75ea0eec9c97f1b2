import { Download, FileText, Folder, Search, UserMinus, X } from 'lucide'
import type { ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { printable } from '../../../base/text.ts'
import { useBackLevels } from '../../kit/back-levels.ts'
import { bridge } from '../../kit/bridge.ts'
import { Button, IconButton } from '../../kit/button.tsx'
import { confirm } from '../../kit/dialog.tsx'
import { SearchField, Switch } from '../../kit/field.tsx'
import { compareNames, formatSize, formatWhen } from '../../kit/formats.ts'
import { Icon } from '../../kit/icon.tsx'
import { Toolbar } from '../../kit/split-view.tsx'
import { EmptyState, Loading } from '../../kit/empty-state.tsx'
import { toastError } from '../../kit/toast.tsx'
import { describeError } from '../../kit/api-error.ts'
import { common } from '../../kit/words.ts'
import { authorOf } from './author.ts'
import { Avatar } from './avatar.tsx'
import { jumpTo } from './message-log.ts'
import { plainText } from '../../kit/plain-text.ts'
import { changed, filesOf, type RoomFile } from './room-files.ts'
import {
  loadRooms,
  me,
  online,
  panel,
  rooms,
  searchesAllRooms,
  openDirectMessage,
  titleOf,
  type ChatRoom,
  type Message,
  type Person,
} from './store.ts'
import { words } from './words.ts'

function Panel({ title, children }: { title: string; children: ComponentChildren }) {
  const close = () => void (panel.value = undefined)
  useBackLevels(1, close)
  return (
    <aside class="panel" aria-label={title}>
      <Toolbar label={title}>
        <h2>{title}</h2>
        <span class="space" />
        <IconButton icon={X} label={common('close')} onClick={close} />
      </Toolbar>
      {children}
    </aside>
  )
}

async function confirmAndRemove(room: ChatRoom, person: Person): Promise<void> {
  const name = person.display_name
  const texts = { title: words('remove_title', name), text: words('remove_text'), action: words('remove_action') }
  if (!(await confirm({ ...texts, danger: true }))) return
  try {
    await bridge.call('teamChat.remove_participant', { room_id: room.room_id, user_id: person.id })
    await loadRooms()
  } catch (error) {
    toastError(error)
  }
}

export function PeoplePanel({ room }: { room: ChatRoom }) {
  const mayRemove = room.type === 'channel' && (room.created_by === me() || bridge.user.value!.role === 'admin')
  const rank = ({ id }: Person) => Number(!online.value.has(id))
  const all = room.participants.toSorted((a, b) => rank(a) - rank(b) || compareNames(a.display_name, b.display_name))
  return (
    <Panel title={words('people')}>
      <ul class="panel-list">
        {all.map((person) => (
          <li key={person.id}>
            {person.id === me() ? (
              <span class="person">
                <Avatar of={person} dot />
                <span>{words('you', person.display_name)}</span>
                <small>@{person.username}</small>
              </span>
            ) : (
              <button
                type="button"
                class="person"
                title={words('write_to', person.display_name)}
                onClick={() => void openDirectMessage(person).catch(toastError)}
              >
                <Avatar of={person} dot />
                <span>{person.display_name}</span>
                <small>@{person.username}</small>
              </button>
            )}
            {mayRemove && person.id !== me() && (
              <IconButton
                icon={UserMinus}
                label={words('remove', person.display_name)}
                onClick={() => void confirmAndRemove(room, person)}
              />
            )}
          </li>
        ))}
      </ul>
    </Panel>
  )
}

function File({ file, folder }: { file: RoomFile; folder: string }) {
  const path = `${folder}/${file.name}`
  const name = printable(file.name)
  const isFile = file.type === 'file'
  return (
    <li>
      <button type="button" class="person" title={words('open_files')} onClick={() => bridge.open('files', path)}>
        <Icon of={isFile ? FileText : Folder} />
        <span>{name}</span>
        <small>
          {isFile && `${formatSize(file.size ?? 0)} · `}
          {formatWhen(file.modified)}
        </small>
      </button>
      {isFile && (
        <IconButton
          icon={Download}
          label={words('download', name)}
          onClick={() => bridge.download('filesystem.download', { path })}
        />
      )}
    </li>
  )
}

export function FilesPanel({ room }: { room: ChatRoom }) {
  const [found, setFound] = useState<{ folder: string; files: readonly RoomFile[] } | undefined>(undefined)
  const [error, setError] = useState<unknown>(undefined)
  useEffect(() => {
    let isStale = false
    setError(undefined)
    filesOf(room.room_id).then(
      (answer) => isStale || setFound(answer),
      (error: unknown) => isStale || setError(error),
    )
    return () => void (isStale = true)
  }, [room.room_id, changed.value, room.last_message?.message_id])
  return (
    <Panel title={words('files')}>
      {error !== undefined ? (
        <EmptyState icon={Folder} title={describeError(error)} />
      ) : !found ? (
        <Loading />
      ) : found.files.length === 0 ? (
        <EmptyState icon={Folder} title={words('no_files')}>
          <p>{words('no_files_text')}</p>
        </EmptyState>
      ) : (
        <>
          <ul class="panel-list">
            {found.files.map((file) => (
              <File key={file.name} file={file} folder={found.folder} />
            ))}
          </ul>
          <p class="panel-foot">
            <Button onClick={() => bridge.open('files', found.folder)}>{words('open_files')}</Button>
          </p>
        </>
      )}
    </Panel>
  )
}

/** Delay from the last input to searching, ms. */
const SEARCH_DELAY = 250

function SearchResults({ results }: { results: readonly Message[] }) {
  const titles = new Map(rooms.value.map((one) => [one.room_id, titleOf(one)]))
  return (
    <ul class="panel-list">
      {results.map((message) => (
        <li key={message.message_id}>
          <button
            type="button"
            class="hit"
            onClick={() => {
              // On narrow screens the panel would cover the message.
              if (innerWidth < 800) panel.value = undefined
              void jumpTo(message).catch(toastError)
            }}
          >
            <Avatar of={authorOf(message)} />
            <span>
              <strong>{authorOf(message).display_name}</strong> <small>{titles.get(message.room_id)}</small>
              <time>{formatWhen(message.timestamp)}</time>
            </span>
            <span>{plainText(message.content)}</span>
          </button>
        </li>
      ))}
    </ul>
  )
}

export function SearchPanel({ room }: { room: ChatRoom | undefined }) {
  const [query, setQuery] = useState('')
  const [hits, setHits] = useState<readonly Message[] | undefined>(undefined)
  const [error, setError] = useState<unknown>(undefined)
  const room_id = searchesAllRooms.value ? undefined : room?.room_id
  useEffect(() => {
    const text = query.trim().slice(0, 200)
    const stop = new AbortController()
    setError(undefined)
    if (text === '') setHits(undefined)
    const timer = setTimeout(() => {
      if (text === '') return
      const params = { query: text, ...(room_id === undefined ? {} : { room_id }) }
      bridge.call('teamChat.search', params, { signal: stop.signal }).then(
        ({ messages }) => setHits(messages),
        (error: unknown) => stop.signal.aborted || setError(error),
      )
    }, SEARCH_DELAY)
    return () => {
      clearTimeout(timer)
      stop.abort(new Error('Something else is looked for.'))
    }
  }, [query, room_id])
  return (
    <Panel title={words('search')}>
      <div class="panel-head">
        <SearchField
          label={words('search')}
          value={query}
          maxLength={200}
          ref={(field) => void (query === '' && hits === undefined && field?.focus())}
          onText={setQuery}
        />
        {room && (
          <Switch
            label={words('search_everywhere')}
            checked={searchesAllRooms.value}
            onSwitch={(isOn) => void (searchesAllRooms.value = isOn)}
          />
        )}
      </div>
      <div class="panel-rest" aria-live="polite">
        {error !== undefined ? (
          <EmptyState icon={Search} title={describeError(error)} />
        ) : hits === undefined ? (
          <EmptyState icon={Search} title={words('search_hint')} />
        ) : hits.length === 0 ? (
          <EmptyState icon={Search} title={words('none_found')} />
        ) : (
          <SearchResults results={hits} />
        )}
      </div>
    </Panel>
  )
}
