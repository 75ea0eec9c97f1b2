import { untracked, useSignalEffect } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { bridge } from '../../kit/bridge.ts'
import { useFileDrop } from '../../kit/file-drop.ts'
import { SplitView } from '../../kit/split-view.tsx'
import { OfflineBanner } from '../../kit/empty-state.tsx'
import { Announcer } from './announcer.tsx'
import { ChangesDialog } from './changes-dialog.tsx'
import { QuestionComposer } from './question-composer.tsx'
import { ConversationList } from './conversation-list.tsx'
import { current, open, droppedFiles, showsList, init } from './store.ts'
import { ThreadView } from './thread-view.tsx'
import { words } from './words.ts'

/** The open conversation; files can be dropped anywhere on it. */
function Main() {
  const { isOver, handlers } = useFileDrop((files) => void (droppedFiles.value = files))
  const thread = current.value
  return (
    <div class={`thread ${isOver ? 'drop-here' : ''}`} {...handlers}>
      <ThreadView key={thread.key} thread={thread} />
      <QuestionComposer key={`${thread.key}-composer`} thread={thread} />
    </div>
  )
}

export function Assistant() {
  useEffect(() => void init(), [])
  useSignalEffect(() => {
    const id = Number(bridge.path.value.slice(1))
    if (Number.isSafeInteger(id) && id > 0) untracked(() => open(id))
  })
  return (
    <>
      <h1 class="unseen">{words('assistant')}</h1>
      <OfflineBanner />
      <SplitView
        label={words('conversations')}
        shows={showsList.value ? 'side' : 'main'}
        back={showsList.value && (() => void (showsList.value = false))}
        side={<ConversationList />}
        main={<Main />}
      />
      <ChangesDialog />
      <Announcer />
    </>
  )
}
