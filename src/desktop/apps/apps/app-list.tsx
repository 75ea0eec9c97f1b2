import { Grid2x2Plus, Plus } from 'lucide'
import { categories } from '../../../contract/app-categories.ts'
import { AppTile } from '../../kit/app-tile.tsx'
import { Button, IconButton } from '../../kit/button.tsx'
import { SearchField } from '../../kit/field.tsx'
import { Toolbar } from '../../kit/split.tsx'
import { Empty, Loading } from '../../kit/states.tsx'
import { explain } from '../../kit/trouble.ts'
import { common } from '../../kit/words.ts'
import { beginNew } from './form.ts'
import { category, found, isDisabled, known, listTrouble, nameOf, refresh, sought, view, type App } from './store.ts'
import { words } from './words.ts'

const Item = ({ app }: { app: App }) => (
  <li>
    <button
      type="button"
      aria-current={view.value?.page === 'app' && view.value.slug === app.slug ? 'true' : undefined}
      onClick={() => void (view.value = { page: 'app', slug: app.slug })}
    >
      <AppTile app={app} name={nameOf(app)} size={36} />
      <span>
        <strong>{nameOf(app)}</strong>
        <small>{words(app.category)}</small>
      </span>
    </button>
  </li>
)

function Items() {
  if (known.value === undefined) {
    if (listTrouble.value === undefined) return <Loading />
    return (
      <Empty icon={Grid2x2Plus} title={explain(listTrouble.value)}>
        <Button onClick={() => void refresh()}>{common('retry')}</Button>
      </Empty>
    )
  }
  if (found.value.length === 0) return <Empty icon={Grid2x2Plus} title={words('none_found')} />
  const groups = [
    ['own', found.value.filter((app) => !app.is_system && !isDisabled(app))],
    ['of_all', found.value.filter((app) => app.is_system && !isDisabled(app))],
    ['disabled', found.value.filter(isDisabled)],
  ] as const
  return (
    <div class="app-groups">
      {groups.map(
        ([key, apps]) =>
          apps.length > 0 && (
            <section key={key} aria-labelledby={`group-${key}`}>
              <h2 id={`group-${key}`}>{words(key)}</h2>
              <ul class="side-list">
                {apps.map((app) => (
                  <Item key={app.slug} app={app} />
                ))}
              </ul>
            </section>
          ),
      )}
    </div>
  )
}

/** All apps, one's own first. */
export const AppList = () => (
  <>
    <Toolbar label={words('apps')}>
      <SearchField
        label={words('search')}
        value={sought.value}
        onInput={({ currentTarget }) => void (sought.value = currentTarget.value)}
      />
      <IconButton icon={Plus} label={words('add')} onClick={beginNew} />
    </Toolbar>
    <select
      class="app-filter"
      aria-label={words('category')}
      value={category.value}
      onChange={({ currentTarget }) => void (category.value = currentTarget.value as typeof category.value)}
    >
      <option value="all">{words('all')}</option>
      {categories.map((one) => (
        <option key={one} value={one}>
          {words(one)}
        </option>
      ))}
    </select>
    <Items />
  </>
)
