import { printable } from '../../../base/text.ts'
import { signal } from '@preact/signals'
import { useState } from 'preact/hooks'
import { Button } from '../../kit/button.tsx'
import { Dialog } from '../../kit/dialog.tsx'
import { words } from './words.ts'

export type Choice = 'replace' | 'both' | 'skip'

interface Question {
  name: string
  /** Whether more conflicts may follow. */
  many: boolean
  /** A folder cannot be replaced by a file, nor by what it contains. */
  replaceable: boolean
  answer: (choice: Choice, forAll: boolean) => void
}

const questions = signal<readonly Question[]>([])

/** Asks what to do about an existing name. Questions are shown one at a time. */
export const askAboutName = (question: Omit<Question, 'answer'>): Promise<{ choice: Choice; forAll: boolean }> =>
  new Promise((resolve) => {
    const pending: Question = {
      ...question,
      answer(choice, forAll) {
        questions.value = questions.value.filter((one) => one !== pending)
        resolve({ choice, forAll })
      },
    }
    questions.value = [...questions.value, pending]
  })

function ConflictDialog({ question: { name, many, replaceable, answer } }: { question: Question }) {
  const [forAll, setForAll] = useState(false)
  return (
    <Dialog title={words('taken')} onClose={() => answer('skip', false)}>
      <p class="break">{words('taken_text', printable(name))}</p>
      {many && (
        <label class="tick">
          <input type="checkbox" checked={forAll} onChange={({ currentTarget }) => setForAll(currentTarget.checked)} />
          {words('for_all')}
        </label>
      )}
      <footer>
        <Button onClick={() => answer('skip', forAll)}>{words('skip')}</Button>
        {replaceable && <Button onClick={() => answer('replace', forAll)}>{words('replace')}</Button>}
        <Button kind="main" data-first onClick={() => answer('both', forAll)}>
          {words('keep_both')}
        </Button>
      </footer>
    </Dialog>
  )
}

/** Renders the dialog; once per page. */
export function NameConflicts() {
  const [question] = questions.value
  return question ? <ConflictDialog key={`${question.name} ${questions.value.length}`} question={question} /> : null
}
