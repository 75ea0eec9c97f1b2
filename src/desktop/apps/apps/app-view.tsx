import { ArrowLeft, ExternalLink, Eye, EyeOff, Grid2x2Plus, Pencil, Trash2 } from 'lucide'
import { useEffect } from 'preact/hooks'
import { AppTile } from '../../kit/app-tile.tsx'
import { bridge } from '../../kit/bridge.ts'
import { Button, IconButton } from '../../kit/button.tsx'
import { confirm } from '../../kit/dialog.tsx'
import { Toolbar } from '../../kit/split-view.tsx'
import { EmptyState, Loading } from '../../kit/empty-state.tsx'
import { toast, toastError } from '../../kit/toast.tsx'
import { common } from '../../kit/words.ts'
import { startEdit } from './app-draft.ts'
import { descriptionOf, appOf, isDisabled, installed, nameOf, refresh, registered, view, type App } from './store.ts'
import { words } from './words.ts'

async function remove(app: App): Promise<void> {
  const question = { title: words('remove_title', app.name), text: words('remove_text') }
  if (!(await confirm({ ...question, action: words('remove'), danger: true }))) return
  try {
    await bridge.call('apps.delete', { id: app.id })
    toast(words('removed', app.name))
    view.value = undefined
  } catch (error) {
    toastError(error)
  }
  await refresh()
}

async function enable(app: App): Promise<void> {
  try {
    await bridge.call('admin.enable_app', { slug: app.slug })
    toast(words('enabled', nameOf(app)))
  } catch (error) {
    toastError(error)
  }
  await refresh()
}

async function disable(app: App): Promise<void> {
  const question = { title: words('disable_title', nameOf(app)), text: words('disable_text') }
  if (!(await confirm({ ...question, action: words('disable'), danger: true }))) return
  try {
    await bridge.call('admin.disable_app', { slug: app.slug })
    toast(words('now_disabled', nameOf(app)))
  } catch (error) {
    toastError(error)
  }
  await refresh()
}

/** Actions for an app; some are for administrators only. */
function Actions({ app }: { app: App }) {
  if (isDisabled(app))
    return (
      <div class="app-ways">
        <p>{words('is_disabled')}</p>
        <Button kind="main" icon={Eye} onClick={() => void enable(app)}>
          {words('enable')}
        </Button>
      </div>
    )
  return (
    <div class="app-ways">
      <Button kind="main" icon={ExternalLink} onClick={() => bridge.open(app.slug)}>
        {words('open')}
      </Button>
      {registered.value.has(app.slug) && (
        <Button icon={EyeOff} onClick={() => void disable(app)}>
          {words('disable')}
        </Button>
      )}
    </div>
  )
}

/** Properties of an app; few are known of disabled apps. */
function detailsOf(app: App): readonly (readonly [string, string])[] {
  const owner = registered.value.get(app.slug)?.owner
  const origin = owner ? words('origin_of', owner) : words(app.is_system ? 'origin_all' : 'origin_own')
  const always = [
    [words('slug'), app.slug],
    [words('origin'), origin],
  ] as const
  if (isDisabled(app)) return always
  return [
    [words('category'), words(app.category)],
    [words('address'), app.app_path],
    ...always,
    [words('context'), words(app.supports_context ? 'yes' : 'no')],
  ]
}

/** Properties and actions of an app. */
export function AppView({ slug }: { slug: string }) {
  const app = appOf(slug)
  const name = app ? nameOf(app) : ''
  useEffect(() => {
    bridge.setTitle(name && `${name} – ${words('apps')}`)
    return () => bridge.setTitle('')
  }, [name])
  const isOwn = app !== undefined && !app.is_system && !isDisabled(app)
  if (!app) return installed.value ? <EmptyState icon={Grid2x2Plus} title={words('gone')} /> : <Loading />
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
        {isOwn && <IconButton icon={Pencil} label={words('change')} onClick={() => startEdit(app)} />}
        {isOwn && <IconButton icon={Trash2} label={words('remove')} onClick={() => void remove(app)} />}
      </Toolbar>
      <div class="page">
        <header class="app-head">
          <AppTile app={app} name={name} size={72} />
          <div>
            <h2>{name}</h2>
            <p>{descriptionOf(app)}</p>
          </div>
        </header>
        <Actions app={app} />
        <dl class="app-facts">
          {detailsOf(app).map(([label, value]) => (
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
