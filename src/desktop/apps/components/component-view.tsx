import { useSignal } from '@preact/signals'
import { ArrowLeft, Code, Ellipsis, History, Play, Power, Puzzle, Save, Undo2 } from 'lucide'
import { useEffect } from 'preact/hooks'
import { bridge } from '../../kit/bridge.ts'
import { Button, IconButton } from '../../kit/button.tsx'
import { confirm } from '../../kit/dialog.tsx'
import { Icon } from '../../kit/icon.tsx'
import { Menu } from '../../kit/menu.tsx'
import { Toolbar } from '../../kit/split.tsx'
import { Empty, Loading } from '../../kit/states.tsx'
import { toast, toastTrouble } from '../../kit/toast.tsx'
import { explain, Trouble } from '../../kit/trouble.ts'
import { common } from '../../kit/words.ts'
import { CodeView } from './code-view.tsx'
import { forget } from './drafts.ts'
import { Notes } from './notes.tsx'
import { current, draft, isConflict, isSaving, look, openTrouble, present, save } from './opened.ts'
import { lineOf, refresh, view } from './store.ts'
import { toggleTrial, triedName } from './trial.ts'
import { Versions } from './versions.tsx'
import { words } from './words.ts'

const gone = new Trouble({ code: 'not_found', message: '' })

async function switchOff(name: string): Promise<void> {
  const question = { title: words('switch_off_title', name), text: words('switch_off_text') }
  if (!(await confirm({ ...question, action: words('switch_off'), danger: true }))) return
  try {
    await bridge.call('desktopComponents.reset', { component_id: name })
    toast(words('switched_off'))
  } catch (error) {
    toastTrouble(error)
  }
  await Promise.all([refresh(), look()])
}

async function discard(name: string): Promise<void> {
  const question = { title: words('discard_title'), text: words('discard_text', name) }
  if (!(await confirm({ ...question, action: common('discard'), danger: true }))) return
  forget(name)
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
          label: words('switch_off'),
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

/** Saves with the keys that save everywhere. */
function useSaveKey(): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (!(event.ctrlKey || event.metaKey) || event.altKey || event.key.toLowerCase() !== 's') return
      event.preventDefault()
      if (!isConflict.peek()) void save()
    }
    addEventListener('keydown', onKey)
    return () => removeEventListener('keydown', onKey)
  }, [])
}

/** One component: its code, its versions, and how it fares. */
export function ComponentView({ name }: { name: string }) {
  const page = useSignal<'code' | 'versions'>('code')
  useSaveKey()
  useEffect(() => {
    bridge.title(`${name} – ${words('components')}`)
    return () => bridge.title('')
  }, [])
  const one = current.value
  const isTried = triedName.value === name
  const isMissing = present.value !== undefined && one === undefined
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
          label={words('try_out')}
          aria-pressed={isTried}
          disabled={!one}
          onClick={() => toggleTrial(name)}
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
      <Notes name={name} />
      {one && page.value === 'code' && <CodeView one={one} />}
      {one && page.value === 'versions' && <Versions one={one} />}
      {!one && openTrouble.value !== undefined && (
        <Empty icon={Puzzle} title={explain(openTrouble.value)}>
          <Button onClick={() => void look()}>{common('retry')}</Button>
        </Empty>
      )}
      {isMissing && <Empty icon={Puzzle} title={explain(gone)} />}
      {!one && !isMissing && openTrouble.value === undefined && <Loading />}
    </article>
  )
}
