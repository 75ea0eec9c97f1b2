import { ArrowDown, ArrowLeft, Bot, Check, History, SquarePen, Trash2 } from 'lucide'
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { bridge } from '../../kit/bridge.ts'
import { Button, IconButton } from '../../kit/button.tsx'
import { confirm } from '../../kit/dialog.tsx'
import { Menu } from '../../kit/menu.tsx'
import { Toolbar } from '../../kit/split-view.tsx'
import { EmptyState, Loading } from '../../kit/empty-state.tsx'
import { toast, toastError } from '../../kit/toast.tsx'
import { describeError } from '../../kit/api-error.ts'
import { common } from '../../kit/words.ts'
import { changesOpen } from './changes-dialog.tsx'
import { NoModel } from './no-model.tsx'
import {
  newConversation,
  chooseModel,
  chosenModel,
  focusComposer,
  load,
  models,
  remove,
  showsList,
  titleOf,
  write,
  type Thread,
} from './store.ts'
import { TurnView } from './turn-view.tsx'
import { words } from './words.ts'

async function confirmAndRemove(thread: Thread): Promise<void> {
  const isConfirmed = await confirm({
    title: words('delete_title'),
    text: words('delete_text', titleOf(thread)),
    action: common('delete'),
    danger: true,
  })
  if (!isConfirmed) return
  try {
    await remove(thread.id.value!)
    toast(words('deleted'))
    focusComposer()
  } catch (error) {
    toastError(error)
  }
}

/** Selects the model, if there are several. */
function ModelMenu() {
  const all = models.value ?? []
  const [first] = all
  if (!first || all.length < 2) return null
  const chosen = all.find(({ id }) => id === chosenModel.value) ?? first
  return (
    <Menu
      class="button quiet model"
      label={words('model', chosen.id)}
      items={all.map((one) => ({
        label: one === first ? words('standard_model', one.id) : one.id,
        icon: Check,
        checked: one === chosen,
        onSelect: () => chooseModel(one === first ? undefined : one.id),
      }))}
    >
      <span>{chosen.id}</span>
    </Menu>
  )
}

function ThreadHeader({ thread, title }: { thread: Thread; title: string }) {
  return (
    <Toolbar label={words('conversation')}>
      <IconButton
        icon={ArrowLeft}
        class="only-narrow"
        label={words('conversations')}
        onClick={() => void (showsList.value = true)}
      />
      <h2>{title}</h2>
      <span class="space" />
      <ModelMenu />
      <IconButton icon={SquarePen} class="only-narrow" label={words('new_conversation')} onClick={newConversation} />
      <IconButton icon={History} label={words('changes')} onClick={() => void (changesOpen.value = true)} />
      {thread.id.value !== undefined && (
        <IconButton icon={Trash2} label={words('delete')} onClick={() => void confirmAndRemove(thread)} />
      )}
    </Toolbar>
  )
}

const suggestions = ['idea_files', 'idea_tasks', 'idea_note', 'idea_wallpaper'] as const

function EmptyThread({ thread }: { thread: Thread }) {
  if (models.value?.length === 0) return <NoModel />
  return (
    <EmptyState icon={Bot} title={words('greeting', bridge.user.value?.display_name ?? '')}>
      <p>{words('greeting_text')}</p>
      <div class="ideas">
        {suggestions.map((idea) => (
          <Button
            key={idea}
            onClick={() => {
              write(thread, words(idea))
              focusComposer()
            }}
          >
            {words(idea)}
          </Button>
        ))}
      </div>
    </EmptyState>
  )
}

/** Turns rendered at first, and added on each request. */
const PAGE = 60

/** Distance from the end within which the view follows new text, pixels. */
const END_DISTANCE = 48

/** The turns of a conversation; follows new text unless the user has scrolled up. */
function Transcript({ thread }: { thread: Thread }) {
  const container = useRef<HTMLDivElement>(null)
  const isAtEnd = useRef(true)
  const [isAway, setAway] = useState(false)
  const [limit, setLimit] = useState(PAGE)
  const turns = thread.turns.value
  const questions = turns.filter(({ role }) => role === 'user').length

  const toEnd = (): void => {
    const element = container.current!
    element.scrollTop = element.scrollHeight
  }
  // Scroll to the user's own question.
  useLayoutEffect(() => {
    isAtEnd.current = true
    toEnd()
  }, [questions])
  // A layout effect, because a passive one ends after the browser has noticed that the removed element has no size.
  useLayoutEffect(() => {
    const element = container.current!
    const follow = new ResizeObserver(() => isAtEnd.current && toEnd())
    follow.observe(element)
    follow.observe(element.firstElementChild!)
    return () => follow.disconnect()
  }, [])

  function onScroll(): void {
    const { scrollTop, scrollHeight, clientHeight } = container.current!
    isAtEnd.current = scrollHeight - scrollTop - clientHeight < END_DISTANCE
    setAway(!isAtEnd.current)
  }

  return (
    <div class="transcript-around">
      <section ref={container} class="transcript" aria-label={words('conversation')} tabIndex={0} onScroll={onScroll}>
        <div class="turns">
          {turns.length > limit && (
            <p class="earlier">
              <Button kind="quiet" onClick={() => setLimit(limit + PAGE)}>
                {words('earlier')}
              </Button>
            </p>
          )}
          {turns.slice(-limit).map((turn) => (
            <TurnView key={turn.key} thread={thread} turn={turn} />
          ))}
        </div>
      </section>
      {isAway && <IconButton class="to-end" icon={ArrowDown} label={words('to_end')} onClick={toEnd} />}
    </div>
  )
}

function Body({ thread }: { thread: Thread }) {
  if (thread.turns.value.length > 0) return <Transcript thread={thread} />
  if (thread.loadError.value !== undefined) {
    return (
      <EmptyState icon={Bot} title={describeError(thread.loadError.value)}>
        <Button onClick={() => void load(thread)}>{common('retry')}</Button>
      </EmptyState>
    )
  }
  return thread.isLoaded.value ? <EmptyThread thread={thread} /> : <Loading />
}

/** A conversation and the composer. */
export function ThreadView({ thread }: { thread: Thread }) {
  const title = titleOf(thread) || words('new_conversation')
  const isNew = thread.turns.value.length === 0 && thread.id.value === undefined
  useEffect(() => bridge.setTitle(isNew ? '' : `${title} – ${words('assistant')}`), [title, isNew])
  return (
    <>
      <ThreadHeader thread={thread} title={title} />
      <Body thread={thread} />
    </>
  )
}
