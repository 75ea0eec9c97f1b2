import { Grid2x2Plus } from 'lucide'
import { Split } from '../../kit/split.tsx'
import { Empty, OfflineBanner } from '../../kit/states.tsx'
import { AppForm } from './app-form.tsx'
import { AppList } from './app-list.tsx'
import { AppView } from './app-view.tsx'
import { form, restore } from './form.ts'
import { view } from './store.ts'
import { words } from './words.ts'

void restore()

/** The app: all apps at the side, and the one that is looked at or written about. */
export function AppManager() {
  const now = view.value
  return (
    <>
      <h1 class="unseen">{words('apps')}</h1>
      <OfflineBanner />
      <Split
        label={words('apps')}
        shows={now ? 'main' : 'side'}
        side={<AppList />}
        main={
          now?.page === 'app' ? (
            <AppView key={now.slug} slug={now.slug} />
          ) : now && form.value ? (
            <AppForm key={form.value.base?.id} written={form.value} />
          ) : (
            <Empty icon={Grid2x2Plus} title={words('none_open')}>
              <p>{words('none_open_text')}</p>
            </Empty>
          )
        }
      />
    </>
  )
}
