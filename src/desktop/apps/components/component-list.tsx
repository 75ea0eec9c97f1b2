import { Ellipsis, type IconNode, Layers, LayoutDashboard, Palette, Plus, Power, Puzzle, Webhook } from 'lucide'
import { bridge } from '../../kit/bridge.ts'
import { Button, IconButton } from '../../kit/button.tsx'
import { confirm } from '../../kit/dialog.tsx'
import { SearchField } from '../../kit/field.tsx'
import { Icon } from '../../kit/icon.tsx'
import { Menu } from '../../kit/menu.tsx'
import { Toolbar } from '../../kit/split-view.tsx'
import { EmptyState, Loading, FirstUse } from '../../kit/empty-state.tsx'
import { toast, toastError } from '../../kit/toast.tsx'
import { describeError } from '../../kit/api-error.ts'
import { common } from '../../kit/words.ts'
import { describeFailure } from './stop-reason.ts'
import { isNewDialogOpen } from './new-dialog.tsx'
import { kinds, components, lines, listError, refresh, searchText, view, type Kind, type Line } from './store.ts'
import { words } from './words.ts'

const icons: Record<Kind, IconNode> = { css: Palette, js: Webhook, widget: LayoutDashboard }

function stateOf({ listed, draft, stopped }: Line): string {
  const active = listed?.active ?? null
  const isOff = listed && active === null
  const state = stopped ? words('failing') : isOff ? words('off') : active === null ? '' : words('active', active)
  return [state, draft && words('unsaved')].filter(Boolean).join(' · ')
}

function Item({ line }: { line: Line }) {
  const { name, stopped, listed } = line
  const isOpen = view.value?.page === 'component' && view.value.name === name
  return (
    <li>
      <button
        type="button"
        class={stopped ? 'failing' : listed?.active === null ? 'off' : ''}
        aria-current={isOpen ? 'true' : undefined}
        title={stopped && describeFailure(stopped.failure)}
        onClick={() => void (view.value = { page: 'component', name })}
      >
        <Icon of={icons[line.kind]} />
        <span>
          <strong>{name}</strong>
          <small>{stateOf(line)}</small>
        </span>
      </button>
    </li>
  )
}

function Items() {
  if (components.value === undefined && lines.value.length === 0) {
    if (listError.value === undefined) return <Loading />
    return (
      <EmptyState icon={Puzzle} title={describeError(listError.value)}>
        <Button onClick={() => void refresh()}>{common('retry')}</Button>
      </EmptyState>
    )
  }
  if (lines.value.length === 0 && searchText.value !== '')
    return <EmptyState icon={Puzzle} title={words('none_found')} />
  if (lines.value.length === 0)
    return <FirstUse icon={Puzzle} words={words} onAdd={() => void (isNewDialogOpen.value = true)} />
  return (
    <div class="kinds">
      {kinds.map((kind) => {
        const these = lines.value.filter((line) => line.kind === kind)
        if (these.length === 0) return null
        return (
          <section key={kind} aria-labelledby={`kind-${kind}`}>
            <h2 id={`kind-${kind}`}>{words(kind)}</h2>
            <ul class="side-list">
              {these.map((line) => (
                <Item key={line.name} line={line} />
              ))}
            </ul>
          </section>
        )
      })}
    </div>
  )
}

async function resetAll(): Promise<void> {
  const question = { title: words('disable_all_title'), text: words('disable_all_text') }
  if (!(await confirm({ ...question, action: words('disable_all'), danger: true }))) return
  try {
    const { deactivated } = await bridge.call('desktopComponents.reset_all', {})
    toast(words('all_disabled', deactivated))
  } catch (error) {
    toastError(error)
  }
  await refresh()
}

export const ComponentList = () => (
  <>
    <Toolbar label={words('components')}>
      <SearchField label={words('search')} of={searchText} />
      <IconButton
        icon={Layers}
        label={words('profiles')}
        aria-pressed={view.value?.page === 'profiles'}
        onClick={() => void (view.value = { page: 'profiles' })}
      />
      <IconButton icon={Plus} label={words('new')} onClick={() => void (isNewDialogOpen.value = true)} />
      <Menu
        label={common('more')}
        items={[{ label: words('disable_all'), icon: Power, danger: true, onSelect: () => void resetAll() }]}
      >
        <Icon of={Ellipsis} />
      </Menu>
    </Toolbar>
    <Items />
  </>
)
