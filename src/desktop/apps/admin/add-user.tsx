import { useState } from 'preact/hooks'
import { bridge } from '../../kit/bridge.ts'
import { Select, TextField } from '../../kit/field.tsx'
import { toast } from '../../kit/toast.tsx'
import { FormDialog } from './form-dialog.tsx'
import { NewPassword } from './new-password.tsx'
import { bytesIn, QuotaField, type QuotaEntry } from './quota-field.tsx'
import { words } from './words.ts'

interface Fields {
  username: string
  display_name: string
  password: string
  role: 'user' | 'admin'
  quota: QuotaEntry
}

const blank: Fields = {
  username: '',
  display_name: '',
  password: '',
  role: 'user',
  quota: { kind: 'default', amount: '' },
}

/** Creates an account. */
export function AddUser({ onClose, onAdded }: { onClose: () => void; onAdded: (id: number) => void }) {
  const [fields, setFields] = useState(blank)
  const { username, display_name, password, role, quota } = fields
  const bytes = bytesIn(quota)

  async function add(own: string): Promise<void> {
    const { user } = await bridge.call('admin.create_user', {
      username: username.trim(),
      password,
      role,
      ...(display_name.trim() === '' ? {} : { display_name: display_name.trim() }),
      ...(quota.kind === 'default' ? {} : { quota_bytes: bytes! }),
      ...(role === 'admin' ? { current_password: own } : {}),
    })
    toast(words('user_added', user.username))
    onAdded(user.id)
  }

  return (
    <FormDialog
      title={words('add_user')}
      action={words('add')}
      asksPassword={role === 'admin'}
      ready={bytes !== undefined}
      onClose={onClose}
      run={add}
    >
      {(problems) => (
        <>
          <TextField
            label={words('username')}
            hint={words('username_hint')}
            value={username}
            required
            maxLength={64}
            autocomplete="off"
            autocapitalize="none"
            spellcheck={false}
            data-first
            problem={problems.username}
            onText={(value) => setFields({ ...fields, username: value })}
          />
          <TextField
            label={words('display_name')}
            value={display_name}
            maxLength={100}
            autocomplete="off"
            onText={(value) => setFields({ ...fields, display_name: value })}
          />
          <NewPassword
            value={password}
            problem={problems.password}
            onChange={(value) => setFields({ ...fields, password: value })}
          />
          <Select
            label={words('role')}
            value={role}
            options={(['user', 'admin'] as const).map((value) => ({ value, label: words(`role_${value}`) }))}
            onChange={({ currentTarget }) => setFields({ ...fields, role: currentTarget.value as Fields['role'] })}
          />
          <QuotaField value={quota} hasDefault onChange={(value) => setFields({ ...fields, quota: value })} />
        </>
      )}
    </FormDialog>
  )
}
