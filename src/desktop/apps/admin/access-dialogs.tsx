import { useState } from 'preact/hooks'
import { bridge } from '../../kit/bridge.ts'
import { Button } from '../../kit/button.tsx'
import { Dialog } from '../../kit/dialog.tsx'
import { Select, Switch } from '../../kit/field.tsx'
import { formatDateTime } from '../../kit/formats.ts'
import { toast } from '../../kit/toast.tsx'
import { common } from '../../kit/words.ts'
import { FormDialog } from './form-dialog.tsx'
import { NewPassword } from './new-password.tsx'
import type { UserDialogProps } from './user-dialog-props.ts'
import { words } from './words.ts'

// Dialogs that change who can get into an account; each asks for the administrator's own password.

/** Promotes a user to administrator, or demotes an administrator. */
export function ChangeRole({ user, onClose, onDone }: UserDialogProps) {
  const role = user.role === 'admin' ? 'user' : 'admin'
  return (
    <FormDialog
      title={words(role === 'admin' ? 'make_admin_title' : 'make_user_title', user.username)}
      text={words(role === 'admin' ? 'make_admin_text' : 'make_user_text')}
      action={words(role === 'admin' ? 'make_admin' : 'make_user')}
      danger
      asksPassword
      onClose={onClose}
      run={async (current_password) => {
        await bridge.call('admin.set_role', { user_id: user.id, role, current_password })
        toast(words('saved'))
        await onDone()
      }}
    />
  )
}

export function SetPassword({ user, onClose, onDone }: UserDialogProps) {
  const [password, setPassword] = useState('')
  const [endsDevices, setEndsDevices] = useState(true)
  return (
    <FormDialog
      title={words('password_title', user.username)}
      text={words('password_text', user.session_count)}
      action={words('set_password')}
      asksPassword
      onClose={onClose}
      run={async (current_password) => {
        const keep_devices = !endsDevices
        await bridge.call('admin.set_password', { user_id: user.id, password, keep_devices, current_password })
        toast(words('password_set', user.username))
        await onDone()
      }}
    >
      {(problems) => (
        <>
          <NewPassword value={password} problem={problems.password} onChange={setPassword} />
          {user.device_count > 0 && (
            <Switch label={words('devices_too', user.device_count)} checked={endsDevices} onSwitch={setEndsDevices} />
          )}
        </>
      )}
    </FormDialog>
  )
}

export const ResetFactor = ({ user, onClose, onDone }: UserDialogProps) => (
  <FormDialog
    title={words('reset_title', user.username)}
    text={words('reset_text', user.session_count)}
    action={words('reset_2fa')}
    danger
    asksPassword
    onClose={onClose}
    run={async (current_password) => {
      await bridge.call('admin.reset_2fa', { user_id: user.id, current_password })
      toast(words('reset_done', user.username))
      await onDone()
    }}
  />
)

const MINUTES = [10, 60, 480, 1_440] as const

/** Creates a one-time bypass code for a user's second factor, and shows it. */
export function BypassCode({ user, onClose, onDone }: UserDialogProps) {
  const [minutes, setMinutes] = useState<number>(MINUTES[0])
  const [made, setMade] = useState<{ code: string; expires_at: string } | undefined>(undefined)
  if (made)
    return (
      <Dialog title={words('bypass_title', user.username)} onClose={onClose}>
        <p>{words('bypass_made', formatDateTime(made.expires_at))}</p>
        <p class="secret">
          <code>{made.code.replace(/(.{5})(?=.)/g, '$1 ')}</code>
        </p>
        <footer>
          <Button kind="main" data-first onClick={onClose}>
            {common('close')}
          </Button>
        </footer>
      </Dialog>
    )
  return (
    <FormDialog
      title={words('bypass_title', user.username)}
      text={words('bypass_text')}
      action={words('bypass_make')}
      asksPassword
      // The dialog must stay open to show the code.
      onClose={() => undefined}
      onCancel={onClose}
      run={async (current_password) => {
        setMade(await bridge.call('admin.bypass_2fa', { user_id: user.id, minutes, current_password }))
        await onDone()
      }}
    >
      {() => (
        <Select
          label={words('bypass_for')}
          value={String(minutes)}
          options={MINUTES.map((value) => ({
            value: String(value),
            label: value < 60 ? words('minutes', value) : words('hours', value / 60),
          }))}
          onChange={({ currentTarget }) => setMinutes(Number(currentTarget.value))}
        />
      )}
    </FormDialog>
  )
}
