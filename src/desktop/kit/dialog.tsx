import { signal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useId, useLayoutEffect, useRef } from 'preact/hooks'
import { X } from 'lucide'
import { useBackLevels } from './back-levels.ts'
import { Button, IconButton } from './button.tsx'
import { common } from './words.ts'

/** A modal dialog: traps the focus, closes on Escape, and restores the focus. */
export function Dialog({
  title,
  onClose,
  children,
}: {
  title: string
  onClose: () => void
  children: ComponentChildren
}) {
  const element = useRef<HTMLDialogElement>(null)
  const id = useId()
  useBackLevels(1, onClose)
  useLayoutEffect(() => {
    const focused = document.activeElement
    const dialog = element.current!
    dialog.showModal()
    // Browsers ignore `autofocus` in frames without an origin.
    dialog.querySelector<HTMLElement>('[data-first]')?.focus()
    return () => {
      // What is behind an open modal dialog cannot have the focus.
      dialog.close()
      if (focused instanceof HTMLElement) focused.focus()
    }
  }, [])
  return (
    <dialog
      ref={element}
      class="dialog"
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault()
        onClose()
      }}
      onMouseDown={(event) => event.target === element.current && onClose()}
    >
      {/* A section, so that its footer is not the footer of the page. */}
      <section class="dialog-body">
        <div class="dialog-head">
          <h2 id={id}>{title}</h2>
          <IconButton icon={X} label={common('close')} onClick={onClose} />
        </div>
        {children}
      </section>
    </dialog>
  )
}

interface Question {
  title: string
  text: string
  /** Label of the confirming button. */
  action: string
  danger?: boolean
  answer: (yes: boolean) => void
}

const questions = signal<readonly Question[]>([])

/** Asks for confirmation. */
export const confirm = (question: Omit<Question, 'answer'>): Promise<boolean> =>
  new Promise((resolve) => {
    const pending: Question = {
      ...question,
      answer(yes) {
        questions.value = questions.value.filter((other) => other !== pending)
        resolve(yes)
      },
    }
    questions.value = [...questions.value, pending]
  })

/** Renders the dialogs of `confirm`; once per page. */
export function Dialogs() {
  return (
    <>
      {questions.value.map(({ title, text, action, danger, answer }) => (
        <Dialog key={title} title={title} onClose={() => answer(false)}>
          <p>{text}</p>
          <footer>
            <Button onClick={() => answer(false)}>{common('cancel')}</Button>
            <Button kind={danger ? 'danger' : 'main'} data-first onClick={() => answer(true)}>
              {action}
            </Button>
          </footer>
        </Dialog>
      ))}
    </>
  )
}
