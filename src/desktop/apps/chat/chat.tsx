import { untracked, useSignalEffect } from '@preact/signals'
import { MessagesSquare } from 'lucide'
import { useEffect } from 'preact/hooks'
import { bridge } from '../../kit/bridge.ts'
import { SplitView } from '../../kit/split-view.tsx'
import { EmptyState, OfflineBanner } from '../../kit/empty-state.tsx'
import { followCurrent, replace } from './message-log.ts'
import { startOutbox } from './outbox.ts'
import { FilesPanel, PeoplePanel, SearchPanel } from './panels.tsx'
import { RoomDialogs } from './room-dialogs.tsx'
import { RoomList } from './room-list.tsx'
import { Room } from './room.tsx'
import { close, startChat, followPath, updateLastMessage, panel, room } from './store.ts'
import { words } from './words.ts'

function Panels() {
  const one = room.value
  if (panel.value === 'search') return <SearchPanel room={one} />
  if (one && panel.value === 'people') return <PeoplePanel room={one} />
  if (one && panel.value === 'files') return <FilesPanel room={one} />
  return null
}

export function Chat() {
  useEffect(() => {
    startChat()
    void startOutbox((message) => {
      replace(message.room_id, [message])
      updateLastMessage(message)
    })
    return followCurrent()
  }, [])
  useSignalEffect(() => {
    const path = bridge.path.value
    untracked(() => followPath(path))
  })
  const one = room.value
  useEffect(() => {
    if (!one) bridge.setTitle('')
  }, [one === undefined])
  return (
    <>
      <h1 class="unseen">{words('chat')}</h1>
      <OfflineBanner />
      <SplitView
        label={words('rooms')}
        shows={one || panel.value === 'search' ? 'main' : 'side'}
        back={one && close}
        side={<RoomList />}
        main={
          <div class={`room-around ${panel.value && (one || panel.value === 'search') ? 'with-panel' : ''}`}>
            {one ? (
              <Room room={one} />
            ) : (
              <section class="room">
                <EmptyState icon={MessagesSquare} title={words('none_open')}>
                  <p>{words('none_open_text')}</p>
                </EmptyState>
              </section>
            )}
            <Panels />
          </div>
        }
      />
      <RoomDialogs />
    </>
  )
}
