import { signal } from '@preact/signals'
import { Button } from '../../kit/button.tsx'
import { Dialog } from '../../kit/dialog.tsx'
import { common } from '../../kit/words.ts'
import { scopes, type Scope } from './series-actions.ts'
import { words } from './words.ts'

interface Question {
  title: string
  name: string
  answer: (scope: Scope | undefined) => void
}

const question = signal<Question | undefined>(undefined)

/** Asks which occurrences a change is for; undefined if none. */
export const askScope = (title: string, name: string): Promise<Scope | undefined> =>
  new Promise((resolve) => {
    question.value?.answer(undefined)
    question.value = {
      title,
      name,
      answer: (scope) => {
        question.value = undefined
        resolve(scope)
      },
    }
  })

/** Renders the question of `askScope`. */
export function ScopeDialog() {
  if (!question.value) return null
  const { title, name, answer } = question.value
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
