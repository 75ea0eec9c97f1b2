import { useState } from 'preact/hooks'
import { bridge } from '../../kit/bridge.ts'
import { Button } from '../../kit/button.tsx'
import { HiddenUsername, Switch, TextField } from '../../kit/field.tsx'
import { useMutation } from '../../kit/query.ts'
import { toast } from '../../kit/toast.tsx'
import { describeError, ApiError } from '../../kit/api-error.ts'
import { words } from './words.ts'

const empty = { current: '', fresh: '', repeated: '' }

export function Password() {
  const [fields, setFields] = useState(empty)
  const [endsOthers, setEndsOthers] = useState(true)
  const change = useMutation(async () => {
    await bridge.call('accountSettings.change_password', {
      current_password: fields.current,
      new_password: fields.fresh,
      end_others: endsOthers,
    })
    setFields(empty)
    toast(words(endsOthers ? 'password_changed_everywhere' : 'password_changed'))
  })
  const differs = fields.repeated !== '' && fields.repeated !== fields.fresh
  const isCurrentWrong = change.error instanceof ApiError && change.error.code === 'invalid_credentials'
  const message = change.error === undefined ? undefined : describeError(change.error)
  const field = (name: keyof typeof empty, autocomplete: string) => ({
    type: 'password' as const,
    value: fields[name],
    required: true,
    maxLength: 1024,
    autocomplete,
    onInput: ({ currentTarget }: { currentTarget: HTMLInputElement }) => {
      setFields({ ...fields, [name]: currentTarget.value })
      change.setError(undefined)
    },
  })
  return (
    <form
      class="form"
      onSubmit={(event) => {
        event.preventDefault()
        if (fields.repeated === fields.fresh) change.start()
      }}
    >
      <HiddenUsername />
      <TextField
        label={words('current_password')}
        problem={isCurrentWrong ? message : undefined}
        {...field('current', 'current-password')}
      />
      <TextField
        label={words('new_password')}
        hint={words('password_hint')}
        minLength={8}
        problem={isCurrentWrong ? undefined : message}
        {...field('fresh', 'new-password')}
      />
      <TextField
        label={words('repeat_password')}
        problem={differs ? words('password_differs') : undefined}
        {...field('repeated', 'new-password')}
      />
      <Switch label={words('end_others')} checked={endsOthers} onSwitch={setEndsOthers} />
      <div class="actions">
        <Button kind="main" type="submit" busy={change.busy}>
          {words('change_password')}
        </Button>
      </div>
    </form>
  )
}
