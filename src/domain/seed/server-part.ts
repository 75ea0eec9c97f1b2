import { storedSettings } from '../../storage/instance/settings.ts'
import { assertApp, type RegisteredApp } from '../desktop/desktop.ts'
import { options, type Option, type OptionName } from '../instance/instance.ts'
import type { Item, Part, Planning } from './seed-context.ts'
import { objection } from './problems.ts'
import type { SeedApp } from './seed-schema.ts'

// Settings and apps of the server, reset to the seed's values in every run.

/** Settings that take effect while the server runs. */
export async function planSettings({ database, seed, settings }: Planning): Promise<Part> {
  const stored = await storedSettings(database.read)
  const items: Item[] = []
  const tasks: { name: string; value: unknown }[] = []
  const wanted = Object.entries(seed.settings)
  for (const [name, value] of wanted) {
    const { kind, standard, secret } = options[name as OptionName] as Option
    const before = stored.get(name)
    if (secret ? (await settings.secret(name as OptionName)) === value : before === JSON.stringify(value)) continue
    tasks.push({ name, value })
    if (secret) {
      items.push({ action: 'change', kind: 'setting', text: `setting ${name}` })
      continue
    }
    const shown = kind.show(before === undefined ? standard : JSON.parse(before)) || 'nothing'
    items.push({
      action: 'change',
      kind: 'setting',
      text: `setting ${name}: ${shown} → ${kind.show(value) || 'nothing'}`,
    })
  }
  return {
    items,
    unchanged: wanted.length - tasks.length,
    async apply(watcher) {
      for (const { name, value } of tasks) {
        await settings.store(name, value)
        watcher.done(1)
      }
    },
  }
}

type Change = Omit<SeedApp, 'slug' | 'name'> & { name?: string }

interface AppTask {
  app: SeedApp
  isNew: boolean
  changes: Change
}

export async function planApps({ desktop, seed, settings, problems }: Planning): Promise<Part> {
  const items: Item[] = []
  const tasks: AppTask[] = []
  const { 'apps.allowed_origins': allowed } = { ...(await settings.values()), ...seed.settings }
  const registered = new Map((await desktop.registry.list()).map((app) => [app.slug, app]))
  for (const { path, value: app } of seed.apps) {
    const { app_path } = app
    const problem = app_path === undefined ? undefined : objection(() => assertApp({ app_path }, allowed))
    if (problem !== undefined) problems.push({ path: [...path, 'app_path'], message: problem })
    const found = registered.get(app.slug)
    const changes = found ? changesOf(app, found) : {}
    const obstacle = found && obstacleTo(changes, found)
    if (obstacle !== undefined) problems.push({ path: [...path, 'slug'], message: obstacle })
    if (found && Object.keys(changes).length === 0) continue
    tasks.push({ app, isNew: !found, changes })
    if (!found) items.push({ action: 'add', kind: 'app', text: `app ${app.slug}` })
    else items.push({ action: 'change', kind: 'app', text: `app ${app.slug}: ${Object.keys(changes).join(', ')}` })
  }
  return {
    items,
    unchanged: seed.apps.length - tasks.length,
    async apply(watcher) {
      for (const { app, isNew, changes } of tasks) {
        const { slug, ...details } = app
        await (isNew ? desktop.registry.add(slug, details) : desktop.registry.change(slug, changes))
        watcher.done(1)
      }
    },
  }
}

function changesOf({ slug: _, ...app }: SeedApp, found: RegisteredApp): Change {
  const differing = Object.entries(app).filter(([name, value]) => found[name as keyof RegisteredApp] !== value)
  return Object.fromEntries(differing)
}

/** Why the seed cannot change an app. */
function obstacleTo(changes: Change, { source }: RegisteredApp): string | undefined {
  if (source === 'custom') return 'is that of an app that a user made'
  if (Object.keys(changes).length === 0) return undefined
  if (source === 'installed') return 'is that of an installed app, which speaks for itself'
  return source === 'system' && changes.app_path !== undefined
    ? 'comes with svc, and its address stays as it is'
    : undefined
}
