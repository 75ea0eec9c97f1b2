import { ShieldQuestionMark } from 'lucide'
import { useEffect, useState } from 'preact/hooks'
import { Button } from '../../kit/button.tsx'
import { Icon } from '../../kit/icon.tsx'
import { decide } from './asking.ts'
import { focusComposer, type Thread } from './store.ts'
import { toolName } from './tool-words.ts'
import { WISH_LASTS, type Turn, type Wish } from './turns.ts'
import { words } from './words.ts'

const textOf = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value, null, 2))

/** Exactly what the tool would be given: whoever says yes says it to this. */
function Arguments({ wish }: { wish: Wish }) {
  const all = Object.entries(wish.arguments)
  if (all.length === 0) return <p class="soft">{words('nothing_more')}</p>
  return (
    <dl tabIndex={0} aria-label={toolName(wish.tool)}>
      {all.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{textOf(value)}</dd>
        </div>
      ))}
    </dl>
  )
}

/** Whether a wish still waits; it does for a few minutes. */
function useWaiting({ at, word }: Turn): boolean {
  const [now, setNow] = useState(Date.now())
  const left = at + WISH_LASTS - now
  const isWaiting = word === undefined && left > 0
  useEffect(() => {
    if (!isWaiting) return
    const timer = setTimeout(() => setNow(Date.now()), left + 100)
    return () => clearTimeout(timer)
  }, [isWaiting, left])
  return isWaiting
}

const outcomes = { allowed: 'allowed', declined: 'declined', past: 'past_wish' } as const

/** What the assistant wants the user's word for, before it does it. */
export function WishCard({ thread, turn, wish }: { thread: Thread; turn: Turn; wish: Wish }) {
  const isWaiting = useWaiting(turn)
  const isBusy = thread.running.value !== undefined
  const say = (allow: boolean): void => {
    void decide(thread, turn, wish, allow)
    focusComposer()
  }
  return (
    <section class="wish" aria-label={words('wish_title')}>
      <h3>
        <Icon of={ShieldQuestionMark} /> {isWaiting ? words('wish_title') : toolName(wish.tool)}
      </h3>
      {isWaiting && <p>{words('wish_text')}</p>}
      {isWaiting && <strong>{toolName(wish.tool)}</strong>}
      <Arguments wish={wish} />
      {isWaiting ? (
        <div class="wish-word">
          <Button kind="main" disabled={isBusy} onClick={() => say(true)}>
            {words('allow')}
          </Button>
          <Button disabled={isBusy} onClick={() => say(false)}>
            {words('decline')}
          </Button>
        </div>
      ) : (
        <p class="soft">{words(turn.word ? outcomes[turn.word] : 'expired_wish')}</p>
      )}
    </section>
  )
}
