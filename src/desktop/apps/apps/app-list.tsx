import { Grid2x2Plus, Plus } from 'lucide'
import { categories } from '../../../contract/app-categories.ts'
import { AppTile } from '../../kit/app-tile.tsx'
import { Button, IconButton } from '../../kit/button.tsx'
import { FilterSelect, SearchField } from '../../kit/field.tsx'
import { Toolbar } from '../../kit/split-view.tsx'
import { EmptyState, Loading } from '../../kit/empty-state.tsx'
import { describeError } from '../../kit/api-error.ts'
import { common } from '../../kit/words.ts'
import { startNew } from './app-draft.ts'
import {
  category,
  foundApps,
  isDisabled,
  installed,
  listError,
  nameOf,
  refresh,
  searchText,
  view,
  type App,
} from './store.ts'
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
  if (installed.value === undefined) {
    if (listError.value === undefined) return <Loading />
    return (
      <EmptyState icon={Grid2x2Plus} title={describeError(listError.value)}>
        <Button onClick={() => void refresh()}>{common('retry')}</Button>
      </EmptyState>
    )
  }
  if (foundApps.value.length === 0) return <EmptyState icon={Grid2x2Plus} title={words('none_found')} />
  const groups = [
    ['own', foundApps.value.filter((app) => !app.is_system && !isDisabled(app))],
    ['of_all', foundApps.value.filter((app) => app.is_system && !isDisabled(app))],
    ['disabled', foundApps.value.filter(isDisabled)],
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

/** All apps, custom ones first. */
export const AppList = () => (
  <>
    <Toolbar label={words('apps')}>
      <SearchField label={words('search')} of={searchText} />
      <IconButton icon={Plus} label={words('add')} onClick={startNew} />
    </Toolbar>
    <FilterSelect
      class="app-filter"
      aria-label={words('category')}
      value={category.value}
      options={[['all', words('all')], ...categories.map((one) => [one, words(one)] as const)]}
      onPick={(one) => void (category.value = one as typeof category.value)}
    />
    <Items />
  </>
)
