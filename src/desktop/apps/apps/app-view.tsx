import { ArrowLeft, ExternalLink, Grid2x2Plus, Pencil, Trash2 } from 'lucide'
import { useEffect } from 'preact/hooks'
import { AppTile } from '../../kit/app-tile.tsx'
import { bridge } from '../../kit/bridge.ts'
import { Button, IconButton } from '../../kit/button.tsx'
import { confirm } from '../../kit/dialog.tsx'
import { Toolbar } from '../../kit/split.tsx'
import { Empty, Loading } from '../../kit/states.tsx'
import { toast, toastTrouble } from '../../kit/toast.tsx'
import { common } from '../../kit/words.ts'
import { beginChange } from './form.ts'
import { aboutOf, appOf, known, nameOf, refresh, view, type App } from './store.ts'
import { words } from './words.ts'

async function remove(app: App): Promise<void> {
  const question = { title: words('remove_title', app.name), text: words('remove_text') }
  if (!(await confirm({ ...question, action: words('remove'), danger: true }))) return
  try {
    await bridge.call('apps.delete', { id: app.id })
    toast(words('removed', app.name))
    view.value = undefined
  } catch (error) {
    toastTrouble(error)
  }
  await refresh()
}

/** One app: what it is, and what can be done with it. */
export function AppView({ slug }: { slug: string }) {
  const app = appOf(slug)
  const name = app ? nameOf(app) : ''
  useEffect(() => {
    bridge.title(name && `${name} – ${words('apps')}`)
    return () => bridge.title('')
  }, [name])
  if (!app) return known.value ? <Empty icon={Grid2x2Plus} title={words('gone')} /> : <Loading />
  const facts = [
    [words('category'), words(app.category)],
    [words('slug'), app.slug],
    [words('address'), app.app_path],
    [words('origin'), words(app.is_system ? 'origin_all' : 'origin_own')],
    [words('context'), words(app.supports_context ? 'yes' : 'no')],
  ] as const
  return (
    <article class="app" aria-label={name}>
      <Toolbar label={name}>
        <IconButton
          icon={ArrowLeft}
          class="only-narrow"
          label={common('back')}
          onClick={() => void (view.value = undefined)}
        />
        <span class="space" />
        {!app.is_system && <IconButton icon={Pencil} label={words('change')} onClick={() => beginChange(app)} />}
        {!app.is_system && <IconButton icon={Trash2} label={words('remove')} onClick={() => void remove(app)} />}
      </Toolbar>
      <div class="page">
        <header class="app-head">
          <AppTile app={app} name={name} size={72} />
          <div>
            <h2>{name}</h2>
            <p>{aboutOf(app)}</p>
          </div>
        </header>
        <div>
          <Button kind="main" icon={ExternalLink} onClick={() => bridge.open(app.slug)}>
            {words('open')}
          </Button>
        </div>
        <dl class="app-facts">
          {facts.map(([label, value]) => (
            <div key={label}>
              <dt>{label}</dt>
              <dd>{value}</dd>
            </div>
          ))}
        </dl>
      </div>
    </article>
  )
}
