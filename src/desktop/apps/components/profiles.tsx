import { ArrowLeft, Layers } from 'lucide'
import { useState } from 'preact/hooks'
import { bridge } from '../../kit/bridge.ts'
import { Button, IconButton } from '../../kit/button.tsx'
import { confirm, Dialog } from '../../kit/dialog.tsx'
import { Problem, Switch, TextField } from '../../kit/field.tsx'
import { formatDateTime } from '../../kit/formats.ts'
import { Icon } from '../../kit/icon.tsx'
import { useQuery, useMutation } from '../../kit/query.ts'
import { Toolbar } from '../../kit/split-view.tsx'
import { EmptyState, Loading } from '../../kit/empty-state.tsx'
import { toast, toastError } from '../../kit/toast.tsx'
import { describeError } from '../../kit/api-error.ts'
import { common } from '../../kit/words.ts'
import type { AnswerOf } from '../../wire/actions.ts'
import { refresh, view } from './store.ts'
import { timeOf } from './times.ts'
import { words } from './words.ts'

type Profile = AnswerOf<'desktopComponents.profiles'>['profiles'][number]

/** Saves the active components as a profile. */
function SaveProfile({ onSaved }: { onSaved: () => Promise<void> }) {
  const [name, setName] = useState('')
  const task = useMutation(async () => {
    const { components_saved } = await bridge.call('desktopComponents.save_profile', { name: name.trim() })
    toast(words('profile_saved', components_saved))
    setName('')
    await onSaved()
  })
  return (
    <form class="form" onSubmit={task.start}>
      <TextField
        label={words('profile_name')}
        required
        maxLength={100}
        autocomplete="off"
        value={name}
        problem={task.error === undefined ? undefined : describeError(task.error)}
        onText={setName}
      />
      <div class="actions">
        <Button kind="main" type="submit" busy={task.busy} disabled={name.trim() === ''}>
          {words('save_profile')}
        </Button>
      </div>
    </form>
  )
}

function ApplyProfile({ profile, onClose }: { profile: Profile; onClose: () => void }) {
  const [isExclusive, setExclusive] = useState(true)
  const task = useMutation(async () => {
    await bridge.call('desktopComponents.load_profile', { profile_id: profile.id, exclusive: isExclusive })
    toast(words('applied', profile.name))
    onClose()
    await refresh()
  })
  return (
    <Dialog title={words('apply_title', profile.name)} onClose={onClose}>
      <form class="form" onSubmit={task.start}>
        <p>{words('apply_text')}</p>
        <Switch label={words('exclusive')} checked={isExclusive} onSwitch={setExclusive} />
        {task.error !== undefined && <Problem>{describeError(task.error)}</Problem>}
        <footer>
          <Button onClick={onClose}>{common('cancel')}</Button>
          <Button kind="main" type="submit" data-first busy={task.busy}>
            {words('apply')}
          </Button>
        </footer>
      </form>
    </Dialog>
  )
}

function Rename({ profile, onClose }: { profile: Profile; onClose: (isChanged: boolean) => void }) {
  const [name, setName] = useState(profile.name)
  const task = useMutation(async () => {
    await bridge.call('desktopComponents.rename_profile', { profile_id: profile.id, name: name.trim() })
    onClose(true)
  })
  return (
    <Dialog title={words('rename')} onClose={() => onClose(false)}>
      <form class="form" onSubmit={task.start}>
        <TextField
          label={words('profile_name')}
          data-first
          required
          maxLength={100}
          autocomplete="off"
          value={name}
          problem={task.error === undefined ? undefined : describeError(task.error)}
          onText={setName}
        />
        <footer>
          <Button onClick={() => onClose(false)}>{common('cancel')}</Button>
          <Button kind="main" type="submit" busy={task.busy} disabled={name.trim() === ''}>
            {words('rename')}
          </Button>
        </footer>
      </form>
    </Dialog>
  )
}

async function remove({ id, name }: Profile): Promise<void> {
  const question = { title: words('delete_profile_title', name), text: words('delete_profile_text') }
  if (!(await confirm({ ...question, action: common('delete'), danger: true }))) return
  await bridge.call('desktopComponents.delete_profile', { profile_id: id }).catch(toastError)
}

function Item({ profile, onChange }: { profile: Profile; onChange: () => Promise<void> }) {
  const [asked, setAsked] = useState<'apply' | 'rename' | undefined>(undefined)
  const { name, components, created_at } = profile
  return (
    <li>
      <Icon of={Layers} />
      <div>
        <strong>{name}</strong>
        <small title={components.join(', ')}>
          {words('holds', components.length)} · {formatDateTime(timeOf(created_at))}
        </small>
      </div>
      <Button aria-label={words('of', words('apply'), name)} onClick={() => setAsked('apply')}>
        {words('apply')}
      </Button>
      <Button kind="quiet" aria-label={words('of', words('rename'), name)} onClick={() => setAsked('rename')}>
        {words('rename')}
      </Button>
      <Button
        kind="quiet"
        aria-label={words('of', common('delete'), name)}
        onClick={() => void remove(profile).then(onChange)}
      >
        {common('delete')}
      </Button>
      {asked === 'apply' && <ApplyProfile profile={profile} onClose={() => setAsked(undefined)} />}
      {asked === 'rename' && (
        <Rename
          profile={profile}
          onClose={(isChanged) => {
            setAsked(undefined)
            if (isChanged) void onChange()
          }}
        />
      )}
    </li>
  )
}

export function Profiles() {
  const { value, error, reload } = useQuery(() => bridge.call('desktopComponents.profiles', {}))
  return (
    <>
      <Toolbar label={words('profiles')}>
        <IconButton
          icon={ArrowLeft}
          class="only-narrow"
          label={common('back')}
          onClick={() => void (view.value = undefined)}
        />
        <h2>{words('profiles')}</h2>
      </Toolbar>
      <div class="page profiles">
        <p>{words('profiles_text')}</p>
        <SaveProfile onSaved={reload} />
        {error !== undefined && (
          <Problem>
            {describeError(error)} <Button onClick={() => void reload()}>{common('retry')}</Button>
          </Problem>
        )}
        {!value && error === undefined && <Loading />}
        {value?.profiles.length === 0 && <EmptyState icon={Layers} title={words('no_profiles')} />}
        {value && value.profiles.length > 0 && (
          <ul>
            {value.profiles.map((profile) => (
              <Item key={profile.id} profile={profile} onChange={reload} />
            ))}
          </ul>
        )}
      </div>
    </>
  )
}
