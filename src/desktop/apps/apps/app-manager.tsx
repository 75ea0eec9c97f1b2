import { Grid2x2Plus } from 'lucide'
import { SplitView } from '../../kit/split-view.tsx'
import { EmptyState, OfflineBanner } from '../../kit/empty-state.tsx'
import { AppForm } from './app-form.tsx'
import { AppList } from './app-list.tsx'
import { AppView } from './app-view.tsx'
import { draft, restore } from './app-draft.ts'
import { view } from './store.ts'
import { words } from './words.ts'

void restore()

export function AppManager() {
  const now = view.value
  return (
    <>
      <h1 class="unseen">{words('apps')}</h1>
      <OfflineBanner />
      <SplitView
        label={words('apps')}
        shows={now ? 'main' : 'side'}
        back={now && (() => void (view.value = undefined))}
        side={<AppList />}
        main={
          now?.page === 'app' ? (
            <AppView key={now.slug} slug={now.slug} />
          ) : now && draft.value ? (
            <AppForm key={draft.value.base?.id} written={draft.value} />
          ) : (
            <EmptyState icon={Grid2x2Plus} title={words('none_open')}>
              <p>{words('none_open_text')}</p>
            </EmptyState>
          )
        }
      />
    </>
  )
}
