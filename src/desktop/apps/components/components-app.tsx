import { effect } from '@preact/signals'
import { Puzzle } from 'lucide'
import { Banner } from '../../kit/banner.tsx'
import { bridge } from '../../kit/bridge.ts'
import { SplitView } from '../../kit/split-view.tsx'
import { EmptyState, OfflineBanner } from '../../kit/empty-state.tsx'
import { ComponentList } from './component-list.tsx'
import { ComponentView } from './component-view.tsx'
import { restore } from './drafts.ts'
import { NewDialog } from './new-dialog.tsx'
import { Profiles } from './profiles.tsx'
import { view } from './store.ts'
import { words } from './words.ts'

const PATH = /^\/component\/([^/]+)$/

/** Opens the requested path. */
effect(() => {
  const [, name] = PATH.exec(bridge.path.value) ?? []
  if (name === undefined) return
  try {
    view.value = { page: 'component', name: decodeURIComponent(name) }
  } catch {
    // Not a valid percent-encoding.
  }
})

void restore()

export function ComponentsApp() {
  const now = view.value
  return (
    <>
      <h1 class="unseen">{words('components')}</h1>
      <OfflineBanner />
      {bridge.components.value.safe && <Banner>{words('safe')}</Banner>}
      <SplitView
        label={words('components')}
        shows={now ? 'main' : 'side'}
        back={now && (() => void (view.value = undefined))}
        side={<ComponentList />}
        main={
          now?.page === 'component' ? (
            <ComponentView key={now.name} name={now.name} />
          ) : now ? (
            <Profiles />
          ) : (
            <EmptyState icon={Puzzle} title={words('none_open')}>
              <p>{words('none_open_text')}</p>
            </EmptyState>
          )
        }
      />
      <NewDialog />
    </>
  )
}
