import { ArrowLeft, ImageUp, X } from 'lucide'
import { useEffect, useRef } from 'preact/hooks'
import { categories } from '../../../contract/app-categories.ts'
import { AppTile } from '../../kit/app-tile.tsx'
import { bridge } from '../../kit/bridge.ts'
import { Button, IconButton } from '../../kit/button.tsx'
import { Select, Switch, TextArea, TextField } from '../../kit/field.tsx'
import { Toolbar } from '../../kit/split.tsx'
import { toast } from '../../kit/toast.tsx'
import { explain, flawsOf } from '../../kit/trouble.ts'
import { common } from '../../kit/words.ts'
import { drop, formTrouble, isSaving, isTaken, save, settle, theirs, write, type Form } from './form.ts'
import { pictureFrom } from './picture.ts'
import { view, type Category } from './store.ts'
import { words } from './words.ts'

const explained = ['name', 'slug', 'description', 'app_path', 'icon_url'] as const

/** What is wrong with each field, in the language of the desktop. */
function flaws(): Partial<Record<(typeof explained)[number], string>> {
  if (isTaken(formTrouble.value)) return { slug: words('flaw_taken') }
  const found = flawsOf(formTrouble.value)
  return Object.fromEntries(explained.filter((name) => name in found).map((name) => [name, words(`flaw_${name}`)]))
}

function Picture({ written: { details }, flaw }: { written: Form; flaw: string | undefined }) {
  const file = useRef<HTMLInputElement>(null)
  const isPicture = details.icon_url.startsWith('data:')
  const take = async (chosen: File | undefined) => {
    if (chosen)
      await pictureFrom(chosen).then(
        (icon_url) => write({ icon_url }),
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
          flaw={flaw}
          inputMode="url"
          autocomplete="off"
          maxLength={100_000}
          value={details.icon_url}
          onInput={({ currentTarget }) => write({ icon_url: currentTarget.value })}
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
      {isPicture && <IconButton icon={X} label={words('no_icon')} onClick={() => write({ icon_url: '' })} />}
    </div>
  )
}

function Conflict() {
  if (theirs.value === undefined) return null
  return (
    <div class="conflict" role="alert">
      <p>{words(theirs.value ? 'conflict' : 'gone_meanwhile')}</p>
      <Button onClick={() => settle('mine')}>{words(theirs.value ? 'keep_mine' : 'as_new')}</Button>
      <Button onClick={() => settle('theirs')}>{theirs.value ? words('take_theirs') : common('discard')}</Button>
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

function Fields({ written }: { written: Form }) {
  const { details, base } = written
  const wrong = flaws()
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
        flaw={wrong.name}
        onInput={({ currentTarget }) => write({ name: currentTarget.value })}
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
          flaw={wrong.slug}
          onInput={({ currentTarget }) => write({ slug: currentTarget.value })}
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
        flaw={wrong.app_path}
        onInput={({ currentTarget }) => write({ app_path: currentTarget.value })}
      />
      <Select
        label={words('category')}
        value={details.category}
        options={categories.map((value) => ({ value, label: words(value) }))}
        onChange={({ currentTarget }) => write({ category: currentTarget.value as Category })}
      />
      <TextArea
        label={words('description')}
        rows={3}
        maxLength={2_000}
        value={details.description}
        flaw={wrong.description}
        onInput={({ currentTarget }) => write({ description: currentTarget.value })}
      />
      <Picture written={written} flaw={wrong.icon_url} />
      <Switch
        label={words('context')}
        checked={details.supports_context}
        onChange={({ currentTarget }) => write({ supports_context: currentTarget.checked })}
      />
    </div>
  )
}

/** What is said about an app of one's own. */
export function AppForm({ written }: { written: Form }) {
  const { base, details } = written
  const title = base ? words('change_title', base.name) : words('add')
  const trouble = formTrouble.value
  const isGeneral = trouble !== undefined && Object.keys(flaws()).length === 0
  useEffect(() => {
    bridge.title(`${title} – ${words('apps')}`)
    return () => bridge.title('')
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
        {isGeneral && (
          <p class="flaw" role="alert">
            {explain(trouble)}
          </p>
        )}
        <div class="app-end">
          <Button onClick={drop}>{base ? common('cancel') : common('discard')}</Button>
          <Button kind="main" type="submit" busy={isSaving.value} disabled={theirs.value !== undefined}>
            {base ? common('save') : words('add_it')}
          </Button>
        </div>
      </form>
    </article>
  )
}
