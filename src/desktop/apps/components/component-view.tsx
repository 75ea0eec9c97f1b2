import { useSignal } from '@preact/signals'
import { ArrowLeft, Code, Ellipsis, History, Play, Power, Puzzle, Save, Undo2 } from 'lucide'
import { useEffect } from 'preact/hooks'
import { bridge } from '../../kit/bridge.ts'
import { Button, IconButton } from '../../kit/button.tsx'
import { confirm } from '../../kit/dialog.tsx'
import { Icon } from '../../kit/icon.tsx'
import { useKeys } from '../../kit/keys.ts'
import { Menu } from '../../kit/menu.tsx'
import { Toolbar } from '../../kit/split-view.tsx'
import { EmptyState, Loading } from '../../kit/empty-state.tsx'
import { toast, toastError } from '../../kit/toast.tsx'
import { describeError, ApiError } from '../../kit/api-error.ts'
import { common } from '../../kit/words.ts'
import { CodeView } from './code-view.tsx'
import { discardDraft } from './drafts.ts'
import { ComponentStatus } from './component-status.tsx'
import { current, draft, isConflict, isSaving, refreshOpen, loadError, openComponent, save } from './open-component.ts'
import { lineOf, refresh, view } from './store.ts'
import { togglePreview, previewedName } from './live-preview.ts'
import { ComponentVersions } from './component-versions.tsx'
import { words } from './words.ts'

const gone = new ApiError({ code: 'not_found', message: '' })

async function switchOff(name: string): Promise<void> {
  const question = { title: words('disable_title', name), text: words('disable_text') }
  if (!(await confirm({ ...question, action: words('disable'), danger: true }))) return
  try {
    await bridge.call('desktopComponents.reset', { component_id: name })
    toast(words('disabled'))
  } catch (error) {
    toastError(error)
  }
  await Promise.all([refresh(), refreshOpen()])
}

async function discard(name: string): Promise<void> {
  const question = { title: words('discard_title'), text: words('discard_text', name) }
  if (!(await confirm({ ...question, action: common('discard'), danger: true }))) return
  discardDraft(name)
  if (lineOf(name) === undefined) view.value = undefined
}

function More({ name }: { name: string }) {
  const line = lineOf(name)
  return (
    <Menu
      label={common('more')}
      items={[
        { label: words('discard'), icon: Undo2, disabled: !draft.value, onSelect: () => void discard(name) },
        {
          label: words('disable'),
          icon: Power,
          danger: true,
          disabled: (line?.listed?.active ?? null) === null,
          onSelect: () => void switchOff(name),
        },
      ]}
    >
      <Icon of={Ellipsis} />
    </Menu>
  )
}

const State = () => (
  <span class="state" role="status">
    {words(isSaving.value ? 'saving' : draft.value ? 'unsaved' : 'saved')}
  </span>
)

/** Saves with Ctrl+S or Cmd+S. */
function useSaveKey(): void {
  useKeys((event) => {
    if (!(event.ctrlKey || event.metaKey) || event.altKey || event.key.toLowerCase() !== 's') return
    event.preventDefault()
    if (!isConflict.peek()) void save()
  })
}

export function ComponentView({ name }: { name: string }) {
  const page = useSignal<'code' | 'versions'>('code')
  useSaveKey()
  useEffect(() => {
    bridge.setTitle(`${name} – ${words('components')}`)
    return () => bridge.setTitle('')
  }, [])
  const one = current.value
  const isPreviewed = previewedName.value === name
  const isMissing = openComponent.value !== undefined && one === undefined
  return (
    <article class="component" aria-label={name}>
      <Toolbar label={name}>
        <IconButton
          icon={ArrowLeft}
          class="only-narrow"
          label={common('back')}
          onClick={() => void (view.value = undefined)}
        />
        <h2>{name}</h2>
        <State />
        <IconButton
          icon={Code}
          label={words('code')}
          aria-pressed={page.value === 'code'}
          onClick={() => void (page.value = 'code')}
        />
        <IconButton
          icon={History}
          label={words('versions')}
          aria-pressed={page.value === 'versions'}
          onClick={() => void (page.value = 'versions')}
        />
        <IconButton
          icon={Play}
          label={words('preview')}
          aria-pressed={isPreviewed}
          disabled={!one}
          onClick={() => togglePreview(name)}
        />
        <Button
          kind="main"
          icon={Save}
          busy={isSaving.value}
          disabled={!draft.value || isConflict.value}
          onClick={() => void save()}
        >
          {common('save')}
        </Button>
        <More name={name} />
      </Toolbar>
      <ComponentStatus name={name} />
      {one && page.value === 'code' && <CodeView draft={one} />}
      {one && page.value === 'versions' && <ComponentVersions current={one} />}
      {!one && loadError.value !== undefined && (
        <EmptyState icon={Puzzle} title={describeError(loadError.value)}>
          <Button onClick={() => void refreshOpen()}>{common('retry')}</Button>
        </EmptyState>
      )}
      {isMissing && <EmptyState icon={Puzzle} title={describeError(gone)} />}
      {!one && !isMissing && loadError.value === undefined && <Loading />}
    </article>
  )
}
