import { Bot, Copy } from 'lucide'
import { IconButton, Button } from '../../kit/button.tsx'
import { formatDateTime } from '../../kit/formats.ts'
import { Icon } from '../../kit/icon.tsx'
import { AnswerText } from './answer-text.tsx'
import { retry, canRetry, withdraw } from './requests.ts'
import { ChangeSummary } from './change-summary.tsx'
import { changesOpen } from './changes-dialog.tsx'
import { copy } from '../../kit/clipboard.ts'
import { DoneActions } from './done-actions.tsx'
import { describeAnswerError } from './answer-errors.ts'
import { focusComposer, write, type Thread } from './store.ts'
import { ToolList } from './tool-list.tsx'
import { confirmationOf, type Turn } from './turns.ts'
import { ConfirmationCard } from './confirmation-card.tsx'
import { words } from './words.ts'

const Question = ({ turn: { text, picture, at } }: { turn: Turn }) => (
  <article class="question" aria-label={words('you')} title={formatDateTime(at)}>
    {picture && <img src={picture.url} alt={words('picture', picture.name)} />}
    <p>{text}</p>
  </article>
)

/** Why an answer is incomplete, and what the user can do. */
function IncompleteAnswer({ thread, turn }: { thread: Thread; turn: Turn }) {
  const { state, tools } = turn
  const isQuestion = canRetry(thread, turn)
  const edit = (): void => {
    const text = withdraw(thread, turn)
    if (thread.draft.value === '') write(thread, text)
    focusComposer()
  }
  return (
    <div class={`unfinished ${state}`} role={state === 'failed' ? 'alert' : undefined}>
      <p>{state === 'stopped' ? words('stopped') : describeAnswerError(turn, !isQuestion)}</p>
      {tools.length > 0 && (
        <p>
          {words('perhaps_changed')}{' '}
          <button type="button" class="link" onClick={() => void (changesOpen.value = true)}>
            {words('changes')}
          </button>
        </p>
      )}
      {isQuestion && (
        <p>
          <Button kind="quiet" onClick={() => retry(thread, turn)}>
            {words('again')}
          </Button>
          <Button kind="quiet" onClick={edit}>
            {words('edit')}
          </Button>
        </p>
      )}
    </div>
  )
}

function Answer({ thread, turn }: { thread: Thread; turn: Turn }) {
  const { text, tools, state, changes, at } = turn
  const confirmation = confirmationOf(turn)
  const isStreaming = state === 'making'
  return (
    <article class="answer" aria-label={words('assistant')} aria-busy={isStreaming} title={formatDateTime(at)}>
      <span class="face" aria-hidden="true">
        <Icon of={Bot} size={18} />
      </span>
      <div class="answer-body">
        <ToolList tools={tools} />
        {text !== '' && <AnswerText text={text} isGrowing={isStreaming} />}
        {isStreaming && !tools.some(({ status }) => status === 'running') && (
          <p class="works">
            <span class="dots" aria-hidden="true">
              <i />
              <i />
              <i />
            </span>
            <span class="unseen">{words('works')}</span>
          </p>
        )}
        {state === 'whole' && text !== '' && (
          <IconButton icon={Copy} size={15} class="copy" label={words('copy')} onClick={() => void copy(text)} />
        )}
        <DoneActions turn={turn} />
        {confirmation && !isStreaming && <ConfirmationCard thread={thread} turn={turn} confirmation={confirmation} />}
        {changes !== undefined && <ChangeSummary id={changes} />}
        {(state === 'failed' || state === 'stopped') && <IncompleteAnswer thread={thread} turn={turn} />}
      </div>
    </article>
  )
}

export const TurnView = ({ thread, turn }: { thread: Thread; turn: Turn }) =>
  turn.role === 'user' ? <Question turn={turn} /> : <Answer thread={thread} turn={turn} />
