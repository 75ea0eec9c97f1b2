import type { Clock } from '../../base/clock.ts'
import { isSound } from '../../base/text.ts'
import type { categories } from '../../contract/app-categories.ts'
import { SLUG } from '../../contract/slug.ts'
import { fault } from '../../contract/errors.ts'
import { currentReleases, type StoredRelease } from '../../storage/desktop/app-releases.ts'
import { allApps, appBySlug, deleteApp, insertApp, updateApp, type StoredApp } from '../../storage/desktop/apps.ts'
import type { Database, Reader } from '../../storage/engine/database.ts'
import type { Audit, AuditActor, Settings } from '../instance/instance.ts'
import { assertAppPath, assertIconUrl } from './app-urls.ts'
import type { AppPolicy } from './apps.ts'
import { assertName, invalidField } from './names.ts'
import { isSystemSlug } from './system-apps.ts'

/** Origin of an app: the desktop, a URL registered by an administrator, a package, or a user. */
export type AppSource = 'system' | 'added' | 'installed' | 'custom'

/** An app as administrators see it. */
export interface RegisteredApp {
  id: number
  slug: string
  name: string
  description: string
  icon_url: string
  app_path: string
  category: string
  supports_context: boolean
  admin_only: boolean
  source: AppSource
  /** User name of the author of a custom app. */
  owner: string | null
  version: string | null
  sha256: string | null
  disabled: boolean
  created_at: number
  updated_at: number
}

/** The editable fields of an app. */
export interface AppDetails {
  name: string
  description: string
  icon_url: string
  app_path: string
  category: (typeof categories)[number]
  supports_context: boolean
  admin_only: boolean
}

/** Characters. */
const MAX_DESCRIPTION = 2_000

interface Deps {
  database: Database
  settings: Settings
  clock: Clock
  audit: Audit
  policy: () => Promise<AppPolicy>
}

const noSuchApp = (slug: string) => fault('not_found', { text: `There is no app "${slug}": svc app list shows all.` })

/** The app with a slug. Fault `not_found`. */
export async function appNamed(on: Reader, slug: string): Promise<StoredApp> {
  const app = await appBySlug(on, slug)
  if (!app) throw noSuchApp(slug)
  return app
}

function sourceOf({ slug, created_by }: StoredApp, release: StoredRelease | undefined): AppSource {
  if (release) return 'installed'
  if (created_by !== null) return 'custom'
  return isSystemSlug(slug) ? 'system' : 'added'
}

function registered(
  app: StoredApp & { owner: string | null },
  release: StoredRelease | undefined,
  disabled: readonly string[],
): RegisteredApp {
  const { created_by, is_system, supports_context, admin_only, ...rest } = app
  return {
    ...rest,
    supports_context: supports_context === 1,
    admin_only: admin_only === 1,
    source: sourceOf(app, release),
    version: release?.version ?? null,
    sha256: release?.sha256 ?? null,
    disabled: disabled.includes(app.slug),
  }
}

const bit = (value: boolean) => (value ? 1 : 0)

/** Converts the fields of an app to its row. */
export const rowOf = ({ supports_context, admin_only, ...rest }: AppDetails) => ({
  ...rest,
  supports_context: bit(supports_context),
  admin_only: bit(admin_only),
})

/** Converts changed fields to columns. */
const changesOf = ({ supports_context, admin_only, ...rest }: Partial<AppDetails>) => ({
  ...rest,
  ...(supports_context !== undefined && { supports_context: bit(supports_context) }),
  ...(admin_only !== undefined && { admin_only: bit(admin_only) }),
})

function assertDescription(text: string): void {
  if ([...text].length > MAX_DESCRIPTION || !isSound(text))
    throw invalidField('description', `must have at most ${MAX_DESCRIPTION} characters`)
}

const without = (slugs: readonly string[], slug: string) => slugs.filter((each) => each !== slug)

function makeAppSwitch({ settings, audit }: Pick<Deps, 'settings' | 'audit'>) {
  /** Refuses with fault `conflict` if configuration outside the database decides which apps are disabled. */
  const assertSwitchable = (): Promise<void> => settings.assertChangeable('disabled_apps', 'Which apps are disabled')

  async function setDisabled(slug: string, disable: boolean, by: AuditActor | undefined): Promise<boolean> {
    await assertSwitchable()
    return settings.revise('disabled_apps', async (tx, before) => {
      const isDisabled = before.includes(slug)
      // A removed app that is still listed as disabled can be enabled, which clears the entry.
      if (disable || !isDisabled) await appNamed(tx, slug)
      if (isDisabled === disable) return { value: before, result: false }
      await audit.record(tx, { kind: disable ? 'app.disabled' : 'app.enabled', ...by, detail: { slug } })
      return { value: disable ? [...before, slug].sort() : without(before, slug), result: true }
    })
  }

  return {
    /** Enables an app. Returns whether that changed anything. Faults: `not_found`, `conflict`. */
    enable: (slug: string, by?: AuditActor): Promise<boolean> => setDisabled(slug, false, by),

    /** Disables an app for everybody at once. Returns whether that changed anything. Faults: `not_found`, `conflict`. */
    disable: (slug: string, by?: AuditActor): Promise<boolean> => setDisabled(slug, true, by),
  }
}

export function makeAppRegistry({ database, settings, clock, audit, policy }: Deps) {
  async function assertDetails({ name, description, icon_url, app_path }: Partial<AppDetails>): Promise<void> {
    if (name !== undefined) assertName('name', name)
    if (description !== undefined) assertDescription(description)
    if (icon_url !== undefined) assertIconUrl(icon_url)
    if (app_path !== undefined) assertAppPath(app_path, (await policy()).allowedOrigins)
  }

  async function list(): Promise<RegisteredApp[]> {
    const [stored, releases, { disabled }] = await Promise.all([
      allApps(database.read),
      currentReleases(database.read),
      policy(),
    ])
    return stored.map((app) => registered(app, releases.get(app.id), disabled))
  }

  async function find(slug: string): Promise<RegisteredApp> {
    const app = (await list()).find((each) => each.slug === slug)
    if (!app) throw noSuchApp(slug)
    return app
  }

  return {
    list,

    /** One app. Fault `not_found`. */
    find,

    /** Registers an app for everybody by its URL. Faults: `bad_request`, `exists`. */
    async add(slug: string, given: Pick<AppDetails, 'name'> & Partial<AppDetails>): Promise<RegisteredApp> {
      if (!SLUG.test(slug))
        throw invalidField(
          'The slug',
          'must have 1 to 63 lower-case letters, digits and hyphens, and not begin with a hyphen',
        )
      const { name, ...details } = given
      const defaults = { description: '', icon_url: '', app_path: `/apps/${slug}/index.html`, category: 'utility' }
      await assertDetails(given)
      await database.write('instance', async (tx) => {
        const flags = { supports_context: 0, is_system: 1, admin_only: 0, created_by: null }
        const row = { slug, name, ...defaults, ...flags, ...changesOf(details) }
        if ((await insertApp(tx, row, clock.now())) === undefined) throw taken(slug)
        await audit.record(tx, { kind: 'app.created', detail: { slug, app_path: row.app_path, is_system: true } })
      })
      return find(slug)
    },

    /** Faults: `bad_request`, `not_found`, `conflict` for installed apps (see their manifest) and paths of system apps. */
    async change(slug: string, changes: Partial<AppDetails>): Promise<RegisteredApp> {
      await assertDetails(changes)
      await database.write('instance', async (tx) => {
        const app = await appNamed(tx, slug)
        const source = sourceOf(app, (await currentReleases(tx)).get(app.id))
        if (source === 'installed')
          throw fault('conflict', {
            text: `"${slug}" is installed: change its app.json, and run svc app update ${slug}.`,
          })
        if (source === 'system' && changes.app_path !== undefined)
          throw fault('conflict', { text: `"${slug}" comes with svc, and its address stays as it is.` })
        await updateApp(tx, app.id, changesOf(changes), clock.now())
        await audit.record(tx, { kind: 'app.changed', detail: { slug, fields: Object.keys(changes) } })
      })
      return find(slug)
    },

    ...makeAppSwitch({ settings, audit }),

    /** Users' rows and files stay. The app stays disabled unless `purge` is set. Faults: `not_found`, `conflict`. */
    remove: (slug: string, purge: boolean): Promise<void> =>
      settings.revise('disabled_apps', async (tx, disabled) => {
        const app = await appNamed(tx, slug)
        const release = (await currentReleases(tx)).get(app.id)
        const source = sourceOf(app, release)
        if (source === 'system')
          throw fault('conflict', { text: `"${slug}" comes with svc and cannot be removed: svc app disable ${slug}.` })
        await deleteApp(tx, app.id)
        const detail = { slug, source, version: release?.version ?? null, purge }
        await audit.record(tx, { kind: 'app.removed', detail })
        return { value: purge ? without(disabled, slug) : disabled, result: undefined }
      }),
  }
}

export type AppRegistry = ReturnType<typeof makeAppRegistry>

export const taken = (slug: string) => fault('exists', { text: `There is an app "${slug}" already.` })
