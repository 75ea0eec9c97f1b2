import type { Clock } from '../../base/clock.ts'
import type { apps } from '../../contract/apps.ts'
import type { Params } from '../../contract/define.ts'
import { fault } from '../../contract/errors.ts'
import type { Role } from '../../contract/shapes.ts'
import {
  appById,
  customAppCount,
  deleteApp,
  insertApp,
  updateApp,
  visibleApps,
  type NewApp as NewRow,
  type StoredApp,
} from '../../storage/desktop/apps.ts'
import type { Database, Writer } from '../../storage/engine/database.ts'
import type { Audit, RequestOrigin } from '../instance/instance.ts'
import { assertAppPath, assertIconUrl } from './app-urls.ts'
import { assertName } from './names.ts'

const MAX_CUSTOM_APPS = 100

/** The administrator's settings for apps. */
export interface AppPolicy {
  disabled: readonly string[]
  /** Other origins that apps may be loaded from, such as `https://apps.example`. */
  allowedOrigins: readonly string[]
}

export type NewApp = Params<typeof apps.actions.create>
export type NewCustomApp = Params<typeof apps.actions.create_custom>
export type AppUpdate = Params<typeof apps.actions.update>

interface Deps {
  database: Database
  clock: Clock
  audit: Audit
  policy: () => Promise<AppPolicy>
}

let collator: Intl.Collator | undefined

/** Orders names for readers. The collator is created on first use: loading its tables takes time. */
function byName(a: string, b: string): number {
  collator ??= new Intl.Collator('en', { sensitivity: 'base', numeric: true })
  return collator.compare(a, b)
}

const toApp = ({ supports_context, is_system, category, ...app }: StoredApp) => ({
  ...app,
  category: category as NonNullable<AppUpdate['category']>,
  supports_context: supports_context === 1,
  is_system: is_system === 1,
})

/** The user's own app. Faults: `forbidden` for a system app, `not_found` for another user's. */
async function ownApp(tx: Writer, user: number, id: number): Promise<StoredApp> {
  const app = await appById(tx, id)
  if (app?.is_system === 1) throw fault('forbidden', { text: 'Apps of the system cannot be changed.' })
  if (app?.created_by !== user) throw fault('not_found')
  return app
}

/** Refuses invalid fields of an app: fault `bad_request`. */
export function assertApp(
  { name, app_path, icon_url }: Partial<NewCustomApp>,
  allowedOrigins: readonly string[],
): void {
  if (name !== undefined) assertName('name', name)
  if (icon_url !== undefined) assertIconUrl(icon_url)
  if (app_path !== undefined) assertAppPath(app_path, allowedOrigins)
}

/** Apps of the desktop: system apps for everybody, custom apps for their author. */
export function makeApps({ database, clock, audit, policy }: Deps) {
  const assertDetails = async (app: Partial<NewCustomApp>): Promise<void> =>
    assertApp(app, app.app_path === undefined ? [] : (await policy()).allowedOrigins)

  async function add(user: number, given: NewCustomApp, isSystem: boolean, from: RequestOrigin): Promise<number> {
    await assertDetails(given)
    const { name, slug } = given
    const app: NewRow = {
      name,
      slug,
      description: given.description ?? '',
      icon_url: given.icon_url ?? '',
      app_path: given.app_path ?? `/apps/${slug}/index.html`,
      category: given.category ?? (isSystem ? 'utility' : 'custom'),
      supports_context: given.supports_context ? 1 : 0,
      is_system: isSystem ? 1 : 0,
      admin_only: 0,
      created_by: isSystem ? null : user,
    }
    return database.write('instance', async (tx) => {
      if (!isSystem && (await customAppCount(tx, user)) >= MAX_CUSTOM_APPS)
        throw fault('quota_exceeded', { text: `You already have ${MAX_CUSTOM_APPS} apps of your own.` })
      const id = await insertApp(tx, app, clock.now())
      if (id === undefined) throw fault('exists', { text: `There is an app "${slug}" already.` })
      const detail = { slug, app_path: app.app_path, is_system: isSystem }
      await audit.record(tx, { kind: 'app.created', by: user, from, detail })
      return id
    })
  }

  return {
    /** Apps that the user may open, by name. */
    async list(user: { id: number; role: Role }) {
      const [{ disabled }, stored] = await Promise.all([policy(), visibleApps(database.read, user.id)])
      return stored
        .filter(({ slug, admin_only }) => !disabled.includes(slug) && (admin_only === 0 || user.role === 'admin'))
        .map(toApp)
        .sort((a, b) => byName(a.name, b.name) || a.id - b.id)
    },

    /** For everybody, or for this administrator. Faults: `bad_request`, `exists`, `quota_exceeded`. */
    create: (user: number, { is_system = false, ...app }: NewApp, from: RequestOrigin): Promise<number> =>
      add(user, app, is_system, from),

    /** Registers an app for this user only. Faults: `bad_request`, `exists`, `quota_exceeded`. */
    createCustom: (user: number, app: NewCustomApp, from: RequestOrigin): Promise<number> =>
      add(user, app, false, from),

    /** Updates the given fields of the user's own app. Faults: `bad_request`, `forbidden`, `not_found`. */
    async update(user: number, { id, supports_context, ...changes }: AppUpdate): Promise<void> {
      await assertDetails(changes)
      await database.write('instance', async (tx) => {
        await ownApp(tx, user, id)
        const flag = supports_context === undefined ? {} : { supports_context: supports_context ? 1 : 0 }
        await updateApp(tx, id, { ...changes, ...flag }, clock.now())
      })
    },

    remove: (user: number, id: number): Promise<void> =>
      database.write('instance', async (tx) => {
        await ownApp(tx, user, id)
        await deleteApp(tx, id)
      }),
  }
}
