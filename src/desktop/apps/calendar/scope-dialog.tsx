import { Button } from '../../kit/button.tsx'
import { Dialog } from '../../kit/dialog.tsx'
import { makeQuestion } from '../../kit/dialog-question.ts'
import { common } from '../../kit/words.ts'
import { scopes, type Scope } from './series-actions.ts'
import { words } from './words.ts'

const question = makeQuestion<{ title: string; name: string }, Scope>()

/** Asks which occurrences a change is for; undefined if none. */
export const askScope = (title: string, name: string): Promise<Scope | undefined> => question.ask({ title, name })

/** Renders the question of `askScope`. */
export function ScopeDialog() {
  if (!question.current.value) return null
  const { subject, answer } = question.current.value
  const { title, name } = subject
  return (
    <Dialog title={title} onClose={() => answer(undefined)}>
      <p>{words('repeats_text', name)}</p>
      <div class="scopes">
        {scopes.map((scope, index) => (
          <Button key={scope} data-first={index === 0} onClick={() => answer(scope)}>
            {words(`scope_${scope}`)}
          </Button>
        ))}
      </div>
      <footer>
        <Button onClick={() => answer(undefined)}>{common('cancel')}</Button>
      </footer>
    </Dialog>
  )
}
