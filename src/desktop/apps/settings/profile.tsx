import { useState } from 'preact/hooks'
import { bridge } from '../../kit/bridge.ts'
import { Button } from '../../kit/button.tsx'
import { TextField } from '../../kit/field.tsx'
import { formatSize } from '../../kit/formats.ts'
import { useQuery, useMutation } from '../../kit/query.ts'
import { Loading } from '../../kit/empty-state.tsx'
import { toast } from '../../kit/toast.tsx'
import { describeError, fieldProblems } from '../../kit/api-error.ts'
import { common } from '../../kit/words.ts'
import type { AnswerOf } from '../../wire/actions.ts'
import { words } from './words.ts'

function Storage() {
  const { value } = useQuery(() => bridge.call('filesystem.quota', {}))
  if (!value) return null
  const { used, total, percent } = value
  const usageText =
    total === 0
      ? words('storage_unlimited', formatSize(used))
      : words('storage_used', formatSize(used), formatSize(total))
  return (
    <section>
      <h3>{words('storage')}</h3>
      {total > 0 && <meter min={0} max={100} high={90} value={percent} aria-label={words('storage')} />}
      <p class="soft">{usageText}</p>
    </section>
  )
}

/** Begins with what is stored; no later answer replaces what was typed. */
function ProfileForm({ user }: Pick<AnswerOf<'accountSettings.profile'>, 'user'>) {
  const [name, setName] = useState(user.display_name)
  const [color, setColor] = useState(user.avatar_color)
  const saving = useMutation(async () => {
    await bridge.call('accountSettings.update_profile', { display_name: name.trim(), avatar_color: color })
    bridge.refreshUser()
    toast(words('saved'))
  })
  const problems = fieldProblems(saving.error)
  return (
    <form class="form" onSubmit={saving.start}>
      <TextField label={words('username')} value={user.username} readOnly />
      <TextField
        label={words('display_name')}
        value={name}
        required
        maxLength={100}
        autocomplete="name"
        problem={problems['display_name'] ?? (saving.error === undefined ? undefined : describeError(saving.error))}
        onText={setName}
      />
      <TextField label={words('color')} type="color" class="color-field" value={color} onText={setColor} />
      <div class="actions">
        <Button kind="main" type="submit" busy={saving.busy}>
          {common('save')}
        </Button>
      </div>
    </form>
  )
}

/** The profile that other users see. */
export function Profile() {
  const { value, error } = useQuery(() => bridge.call('accountSettings.profile', {}))
  if (error !== undefined) return <p class="problem">{describeError(error)}</p>
  if (!value) return <Loading />
  return (
    <>
      <ProfileForm user={value.user} />
      <Storage />
    </>
  )
}
