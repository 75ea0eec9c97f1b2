import { Ellipsis, type IconNode, Layers, LayoutDashboard, Palette, Plus, Power, Puzzle, Webhook } from 'lucide'
import { bridge } from '../../kit/bridge.ts'
import { Button, IconButton } from '../../kit/button.tsx'
import { confirm } from '../../kit/dialog.tsx'
import { SearchField } from '../../kit/field.tsx'
import { Icon } from '../../kit/icon.tsx'
import { Menu } from '../../kit/menu.tsx'
import { Toolbar } from '../../kit/split.tsx'
import { Empty, Loading, NoneYet } from '../../kit/states.tsx'
import { toast, toastTrouble } from '../../kit/toast.tsx'
import { explain } from '../../kit/trouble.ts'
import { common } from '../../kit/words.ts'
import { reasonOf } from './failure.ts'
import { isBeginning } from './new-dialog.tsx'
import { kinds, known, lines, listTrouble, refresh, sought, view, type Kind, type Line } from './store.ts'
import { words } from './words.ts'

const icons: Record<Kind, IconNode> = { css: Palette, js: Webhook, widget: LayoutDashboard }

/** What the list says about a component. */
function stateOf({ listed, draft, off }: Line): string {
  const active = listed?.active ?? null
  const isOff = listed && active === null
  const state = off ? words('failing') : isOff ? words('off') : active === null ? '' : words('in_force', active)
  return [state, draft && words('unsaved')].filter(Boolean).join(' · ')
}

function Item({ line }: { line: Line }) {
  const { name, off, listed } = line
  const isOpen = view.value?.page === 'component' && view.value.name === name
  return (
    <li>
      <button
        type="button"
        class={off ? 'failing' : listed?.active === null ? 'off' : ''}
        aria-current={isOpen ? 'true' : undefined}
        title={off && reasonOf(off.failure)}
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
  if (known.value === undefined && lines.value.length === 0) {
    if (listTrouble.value === undefined) return <Loading />
    return (
      <Empty icon={Puzzle} title={explain(listTrouble.value)}>
        <Button onClick={() => void refresh()}>{common('retry')}</Button>
      </Empty>
    )
  }
  if (lines.value.length === 0 && sought.value !== '') return <Empty icon={Puzzle} title={words('none_found')} />
  if (lines.value.length === 0)
    return (
      <NoneYet
        icon={Puzzle}
        title={words('none_yet')}
        text={words('none_yet_text')}
        add={words('new')}
        onAdd={() => void (isBeginning.value = true)}
      />
    )
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
  const question = { title: words('switch_all_off_title'), text: words('switch_all_off_text') }
  if (!(await confirm({ ...question, action: words('switch_all_off'), danger: true }))) return
  try {
    const { deactivated } = await bridge.call('desktopComponents.reset_all', {})
    toast(words('all_switched_off', deactivated))
  } catch (error) {
    toastTrouble(error)
  }
  await refresh()
}

/** Everything there is, by kind. */
export const ComponentList = () => (
  <>
    <Toolbar label={words('components')}>
      <SearchField
        label={words('search')}
        value={sought.value}
        onInput={({ currentTarget }) => void (sought.value = currentTarget.value)}
      />
      <IconButton
        icon={Layers}
        label={words('profiles')}
        aria-pressed={view.value?.page === 'profiles'}
        onClick={() => void (view.value = { page: 'profiles' })}
      />
      <IconButton icon={Plus} label={words('new')} onClick={() => void (isBeginning.value = true)} />
      <Menu
        label={common('more')}
        items={[{ label: words('switch_all_off'), icon: Power, danger: true, onSelect: () => void resetAll() }]}
      >
        <Icon of={Ellipsis} />
      </Menu>
    </Toolbar>
    <Items />
  </>
)
