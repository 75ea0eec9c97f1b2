import { ShieldQuestionMark } from 'lucide'
import { useEffect, useState } from 'preact/hooks'
import { Button } from '../../kit/button.tsx'
import { Icon } from '../../kit/icon.tsx'
import { decide } from './requests.ts'
import { focusComposer, type Thread } from './store.ts'
import { toolName } from './tool-words.ts'
import { CONFIRMATION_LIFETIME, type Turn, type Confirmation } from './turns.ts'
import { words } from './words.ts'

const textOf = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value, null, 2))

/** The exact arguments of the tool call to be confirmed. */
function Arguments({ confirmation }: { confirmation: Confirmation }) {
  const all = Object.entries(confirmation.arguments)
  if (all.length === 0) return <p class="soft">{words('nothing_more')}</p>
  return (
    <dl tabIndex={0} aria-label={toolName(confirmation.tool)}>
      {all.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{textOf(value)}</dd>
        </div>
      ))}
    </dl>
  )
}

/** Whether a confirmation is still pending; it expires after some minutes. */
function useWaiting({ at, decision }: Turn): boolean {
  const [now, setNow] = useState(Date.now())
  const left = at + CONFIRMATION_LIFETIME - now
  const isWaiting = decision === undefined && left > 0
  useEffect(() => {
    if (!isWaiting) return
    const timer = setTimeout(() => setNow(Date.now()), left + 100)
    return () => clearTimeout(timer)
  }, [isWaiting, left])
  return isWaiting
}

const outcomes = { allowed: 'allowed', declined: 'declined', past: 'past_confirmation' } as const

/** Asks for confirmation of a tool call. */
export function ConfirmationCard({
  thread,
  turn,
  confirmation,
}: {
  thread: Thread
  turn: Turn
  confirmation: Confirmation
}) {
  const isWaiting = useWaiting(turn)
  const isBusy = thread.running.value !== undefined
  const answer = (allow: boolean): void => {
    void decide(thread, turn, confirmation, allow)
    focusComposer()
  }
  return (
    <section class="wish" aria-label={words('confirmation_title')}>
      <h3>
        <Icon of={ShieldQuestionMark} /> {isWaiting ? words('confirmation_title') : toolName(confirmation.tool)}
      </h3>
      {isWaiting && <p>{words('confirmation_text')}</p>}
      {isWaiting && <strong>{toolName(confirmation.tool)}</strong>}
      <Arguments confirmation={confirmation} />
      {isWaiting ? (
        <div class="wish-word">
          <Button kind="main" disabled={isBusy} onClick={() => answer(true)}>
            {words('allow')}
          </Button>
          <Button disabled={isBusy} onClick={() => answer(false)}>
            {words('decline')}
          </Button>
        </div>
      ) : (
        <p class="soft">{words(turn.decision ? outcomes[turn.decision] : 'expired_confirmation')}</p>
      )}
    </section>
  )
}
