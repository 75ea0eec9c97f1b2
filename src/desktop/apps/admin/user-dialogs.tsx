import { useState } from 'preact/hooks'
import { bridge } from '../../kit/bridge.ts'
import { Switch, TextField } from '../../kit/field.tsx'
import { toast } from '../../kit/toast.tsx'
import { FormDialog } from './form-dialog.tsx'
import { bytesIn, quotaEntryOf, QuotaField } from './quota-field.tsx'
import { describeAdminError } from './error-texts.ts'
import type { UserDialogProps, User } from './user-dialog-props.ts'
import { words } from './words.ts'

// Dialogs for reversible changes; they ask for no password.

/** Changes the name or the quota. */
export function EditUser({ user, onClose, onDone }: UserDialogProps) {
  const [name, setName] = useState(user.display_name)
  const [quota, setQuota] = useState(quotaEntryOf(user.quota_bytes, user.quota_is_default))
  const bytes = bytesIn(quota)
  async function save(): Promise<void> {
    await bridge.call('admin.update_user', {
      user_id: user.id,
      ...(name.trim() === user.display_name ? {} : { display_name: name.trim() }),
      ...(quota.kind === 'default' ? { quota_is_default: true } : { quota_bytes: bytes! }),
    })
    toast(words('saved'))
    await onDone()
  }
  return (
    <FormDialog
      title={words('edit_title', user.username)}
      action={words('save')}
      ready={bytes !== undefined}
      onClose={onClose}
      run={save}
    >
      {() => (
        <>
          <TextField label={words('display_name')} value={name} required maxLength={100} data-first onText={setName} />
          <QuotaField value={quota} hasDefault onChange={setQuota} />
          {bytes !== null && bytes !== undefined && bytes < user.used_bytes && (
            <p class="soft">{words('quota_exceeded')}</p>
          )}
        </>
      )}
    </FormDialog>
  )
}

export const DisableUser = ({ user, onClose, onDone }: UserDialogProps) => (
  <FormDialog
    title={words('disable_title', user.username)}
    text={words('disable_text', user.session_count, user.device_count)}
    action={words('disable')}
    danger
    onClose={onClose}
    run={async () => {
      await bridge.call('admin.disable_user', { user_id: user.id })
      toast(words('disabled', user.username))
      await onDone()
    }}
  />
)

/** Ends all sessions of a user, optionally also of devices. */
export function SignOut({ user, onClose, onDone }: UserDialogProps) {
  const [devices, setDevices] = useState(false)
  return (
    <FormDialog
      title={words('sign_out_title', user.username)}
      text={words('sign_out_text', user.session_count)}
      action={words('sign_out')}
      danger
      onClose={onClose}
      run={async () => {
        await bridge.call('admin.sign_out', { user_id: user.id, devices })
        toast(words('signed_out', user.username))
        await onDone()
      }}
    >
      {() =>
        user.device_count > 0 && (
          <Switch label={words('devices_too', user.device_count)} checked={devices} onSwitch={setDevices} />
        )
      }
    </FormDialog>
  )
}

async function attempt(work: () => Promise<void>, onDone: () => Promise<void>): Promise<void> {
  try {
    await work()
  } catch (error) {
    toast(describeAdminError(error), { tone: 'bad' })
  }
  await onDone()
}

export const enable = ({ id, username }: User, onDone: () => Promise<void>): Promise<void> =>
  attempt(async () => {
    await bridge.call('admin.enable_user', { user_id: id })
    toast(words('enabled', username))
  }, onDone)

export const unlock = ({ id, username }: User, onDone: () => Promise<void>): Promise<void> =>
  attempt(async () => {
    await bridge.call('admin.unlock_user', { user_id: id })
    toast(words('unlocked', username))
  }, onDone)
