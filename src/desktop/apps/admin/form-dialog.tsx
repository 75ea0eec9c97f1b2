import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { Button } from '../../kit/button.tsx'
import { Dialog } from '../../kit/dialog.tsx'
import { HiddenUsername, Problem, TextField } from '../../kit/field.tsx'
import { useMutation } from '../../kit/query.ts'
import { common } from '../../kit/words.ts'
import { formProblems } from './error-texts.ts'
import { words } from './words.ts'

interface FormDialogProps {
  title: string
  /** Explanation above the fields. */
  text?: string
  /** Label of the submit button. */
  action: string
  danger?: boolean
  /** Whether the form can be submitted. */
  ready?: boolean
  onClose: () => void
}

/** A form in a dialog. Shows errors beside their fields; closes on success. */
export function FormDialog({
  title,
  text,
  action,
  danger = false,
  ready = true,
  asksPassword = false,
  onClose,
  onCancel = onClose,
  run,
  children,
}: FormDialogProps & {
  /** Asks for the administrator's own password. */
  asksPassword?: boolean
  /** Called on cancellation; defaults to `onClose`. */
  onCancel?: () => void
  run: (password: string) => Promise<void>
  children?: (problems: ReturnType<typeof formProblems>) => ComponentChildren
}) {
  const [password, setPassword] = useState('')
  const task = useMutation(async () => {
    await run(password)
    onClose()
  })
  const problems = formProblems(task.error)
  return (
    <Dialog title={title} onClose={onCancel}>
      <form
        class="form"
        onSubmit={(event) => {
          event.preventDefault()
          if (ready) task.start()
        }}
      >
        {text && <p>{text}</p>}
        {children?.(problems)}
        {asksPassword && (
          <>
            <HiddenUsername />
            <TextField
              label={words('own_password')}
              hint={words('own_password_hint')}
              type="password"
              value={password}
              required
              maxLength={1024}
              autocomplete="current-password"
              data-first
              problem={problems.current}
              onInput={({ currentTarget }) => {
                setPassword(currentTarget.value)
                task.setError(undefined)
              }}
            />
          </>
        )}
        {problems.other && <Problem>{problems.other}</Problem>}
        <footer>
          <Button data-first onClick={onCancel}>
            {common('cancel')}
          </Button>
          <Button kind={danger ? 'danger' : 'main'} type="submit" busy={task.busy} disabled={!ready}>
            {action}
          </Button>
        </footer>
      </form>
    </Dialog>
  )
}
