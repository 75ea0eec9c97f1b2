import { useEffect, useState } from 'preact/hooks'
import { bridge } from '../../kit/bridge.ts'
import { Button } from '../../kit/button.tsx'
import { TextField } from '../../kit/field.tsx'
import { formatSize } from '../../kit/formats.ts'
import { useLoaded, useTask } from '../../kit/loaded.ts'
import { Loading } from '../../kit/states.tsx'
import { toast } from '../../kit/toast.tsx'
import { explain, flawsOf } from '../../kit/trouble.ts'
import { common } from '../../kit/words.ts'
import { words } from './words.ts'

function Storage() {
  const { value } = useLoaded(() => bridge.call('filesystem.quota', {}))
  if (!value) return null
  const { used, total, percent } = value
  const said =
    total === 0
      ? words('storage_unlimited', formatSize(used))
      : words('storage_used', formatSize(used), formatSize(total))
  return (
    <section>
      <h3>{words('storage')}</h3>
      {total > 0 && <meter min={0} max={100} high={90} value={percent} aria-label={words('storage')} />}
      <p class="soft">{said}</p>
    </section>
  )
}

/** Who one is to others. */
export function Profile() {
  const { value, trouble, reload } = useLoaded(() => bridge.call('accountSettings.profile', {}))
  const [name, setName] = useState('')
  const [color, setColor] = useState('#000000')
  useEffect(() => {
    if (!value) return
    setName(value.user.display_name)
    setColor(value.user.avatar_color)
  }, [value])
  const saving = useTask(async () => {
    await bridge.call('accountSettings.update_profile', { display_name: name.trim(), avatar_color: color })
    bridge.refreshUser()
    await reload()
    toast(words('saved'))
  })
  if (trouble !== undefined) return <p class="flaw">{explain(trouble)}</p>
  if (!value) return <Loading />
  const flaws = flawsOf(saving.trouble)
  return (
    <>
      <form class="form" onSubmit={saving.start}>
        <TextField label={words('username')} value={value.user.username} readOnly />
        <TextField
          label={words('display_name')}
          value={name}
          required
          maxLength={100}
          autocomplete="name"
          flaw={flaws['display_name'] ?? (saving.trouble === undefined ? undefined : explain(saving.trouble))}
          onInput={({ currentTarget }) => setName(currentTarget.value)}
        />
        <TextField
          label={words('color')}
          type="color"
          class="color-field"
          value={color}
          onInput={({ currentTarget }) => setColor(currentTarget.value)}
        />
        <div class="actions">
          <Button kind="main" type="submit" busy={saving.busy}>
            {common('save')}
          </Button>
        </div>
      </form>
      <Storage />
    </>
  )
}
