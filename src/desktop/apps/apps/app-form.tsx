import { ArrowLeft, ImageUp, X } from 'lucide'
import { useEffect, useRef } from 'preact/hooks'
import { categories } from '../../../contract/app-categories.ts'
import { AppTile } from '../../kit/app-tile.tsx'
import { bridge } from '../../kit/bridge.ts'
import { Button, IconButton } from '../../kit/button.tsx'
import { Problem, Select, Switch, TextArea, TextField } from '../../kit/field.tsx'
import { Toolbar } from '../../kit/split-view.tsx'
import { toast } from '../../kit/toast.tsx'
import { describeError, fieldProblems } from '../../kit/api-error.ts'
import { common } from '../../kit/words.ts'
import {
  discard,
  saveError,
  isSaving,
  isSlugTaken,
  save,
  resolveConflict,
  theirs,
  edit,
  type AppDraft,
} from './app-draft.ts'
import { iconFrom } from './icon-image.ts'
import { view, type Category } from './store.ts'
import { words } from './words.ts'

const fieldNames = ['name', 'slug', 'description', 'app_path', 'icon_url'] as const

function problems(): Partial<Record<(typeof fieldNames)[number], string>> {
  if (isSlugTaken(saveError.value)) return { slug: words('problem_taken') }
  const found = fieldProblems(saveError.value)
  return Object.fromEntries(fieldNames.filter((name) => name in found).map((name) => [name, words(`problem_${name}`)]))
}

function Picture({ written: { details }, problem }: { written: AppDraft; problem: string | undefined }) {
  const file = useRef<HTMLInputElement>(null)
  const isPicture = details.icon_url.startsWith('data:')
  const take = async (chosen: File | undefined) => {
    if (chosen)
      await iconFrom(chosen).then(
        (icon_url) => edit({ icon_url }),
        () => toast(words('no_picture'), { tone: 'bad' }),
      )
  }
  return (
    <div class="app-icon-field">
      <AppTile app={{ ...details, is_system: false }} name={details.name} size={56} />
      {!isPicture && (
        <TextField
          label={words('icon')}
          hint={words('icon_hint')}
          problem={problem}
          inputMode="url"
          autocomplete="off"
          maxLength={100_000}
          value={details.icon_url}
          onText={(value) => edit({ icon_url: value })}
        />
      )}
      <input
        ref={file}
        type="file"
        hidden
        accept="image/*"
        aria-label={words('choose_picture')}
        onChange={({ currentTarget }) => void take(currentTarget.files?.[0])}
      />
      <Button icon={ImageUp} onClick={() => file.current?.click()}>
        {words('choose_picture')}
      </Button>
      {isPicture && <IconButton icon={X} label={words('no_icon')} onClick={() => edit({ icon_url: '' })} />}
    </div>
  )
}

function Conflict() {
  if (theirs.value === undefined) return null
  return (
    <div class="conflict" role="alert">
      <p>{words(theirs.value ? 'conflict' : 'gone_meanwhile')}</p>
      <Button onClick={() => resolveConflict('mine')}>{words(theirs.value ? 'keep_mine' : 'as_new')}</Button>
      <Button onClick={() => resolveConflict('theirs')}>
        {theirs.value ? words('take_theirs') : common('discard')}
      </Button>
      {theirs.value && (
        <dl>
          {(['name', 'description', 'app_path', 'category'] as const).map((name) => (
            <div key={name}>
              <dt>{words(name === 'app_path' ? 'address' : name)}</dt>
              <dd>{name === 'category' ? words(theirs.value!.category) : theirs.value![name]}</dd>
            </div>
          ))}
        </dl>
      )}
    </div>
  )
}

function Fields({ written }: { written: AppDraft }) {
  const { details, base } = written
  const wrong = problems()
  const first = useRef<HTMLDivElement>(null)
  useEffect(() => first.current?.querySelector('input')?.focus(), [])
  return (
    <div class="form" ref={first}>
      <TextField
        label={words('name')}
        required
        maxLength={100}
        autocomplete="off"
        value={details.name}
        problem={wrong.name}
        onText={(value) => edit({ name: value })}
      />
      {!base && (
        <TextField
          label={words('slug')}
          hint={words('slug_hint')}
          required
          maxLength={63}
          autocomplete="off"
          autocapitalize="off"
          spellcheck={false}
          value={details.slug}
          problem={wrong.slug}
          onText={(value) => edit({ slug: value })}
        />
      )}
      <TextField
        label={words('address')}
        hint={words('address_hint')}
        inputMode="url"
        maxLength={2_000}
        autocomplete="off"
        autocapitalize="off"
        spellcheck={false}
        required={base !== undefined}
        placeholder={base ? undefined : `/apps/${details.slug || '…'}/index.html`}
        value={details.app_path}
        problem={wrong.app_path}
        onText={(value) => edit({ app_path: value })}
      />
      <Select
        label={words('category')}
        value={details.category}
        options={categories.map((value) => ({ value, label: words(value) }))}
        onChange={({ currentTarget }) => edit({ category: currentTarget.value as Category })}
      />
      <TextArea
        label={words('description')}
        rows={3}
        maxLength={2_000}
        value={details.description}
        problem={wrong.description}
        onText={(value) => edit({ description: value })}
      />
      <Picture written={written} problem={wrong.icon_url} />
      <Switch
        label={words('context')}
        checked={details.supports_context}
        onSwitch={(supports_context) => edit({ supports_context })}
      />
    </div>
  )
}

export function AppForm({ written }: { written: AppDraft }) {
  const { base, details } = written
  const title = base ? words('change_title', base.name) : words('add')
  const error = saveError.value
  const isGeneral = error !== undefined && Object.keys(problems()).length === 0
  useEffect(() => {
    bridge.setTitle(`${title} – ${words('apps')}`)
    return () => bridge.setTitle('')
  }, [title])

  async function onSubmit(event: Event): Promise<void> {
    event.preventDefault()
    if (await save()) toast(words('saved', details.name))
  }

  return (
    <article class="app" aria-label={title}>
      <Toolbar label={title}>
        <IconButton
          icon={ArrowLeft}
          class="only-narrow"
          label={common('back')}
          onClick={() => void (view.value = undefined)}
        />
        <h2>{title}</h2>
      </Toolbar>
      <Conflict />
      <form class="page" onSubmit={(event) => void onSubmit(event)}>
        <Fields written={written} />
        {isGeneral && <Problem>{describeError(error)}</Problem>}
        <div class="app-end">
          <Button onClick={discard}>{base ? common('cancel') : common('discard')}</Button>
          <Button kind="main" type="submit" busy={isSaving.value} disabled={theirs.value !== undefined}>
            {base ? common('save') : words('add_it')}
          </Button>
        </div>
      </form>
    </article>
  )
}
