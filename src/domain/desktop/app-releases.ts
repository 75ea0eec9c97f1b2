import type { Clock } from '../../base/clock.ts'
import { compareVersions } from '../../base/semver.ts'
import { fault } from '../../contract/errors.ts'
import {
  deleteReleases,
  insertRelease,
  makeCurrent,
  releaseManifest,
  releasesOf,
  releaseSize,
  servedFile,
  type StoredRelease,
} from '../../storage/desktop/app-releases.ts'
import { appBySlug, insertApp, updateApp } from '../../storage/desktop/apps.ts'
import type { Contents, Staged } from '../../storage/contents/contents.ts'
import type { Database, Writer } from '../../storage/engine/database.ts'
import type { Audit } from '../instance/instance.ts'
import type { AppManifest } from './app-manifest.ts'
import { packageLimits, type AppPackage } from './app-package.ts'
import { appNamed, rowOf, taken, type AppDetails, type AppRegistry, type RegisteredApp } from './app-registry.ts'
import type { AppPolicy } from './apps.ts'

/** Maximum number of releases kept per app, including the current one. */
const MAX_RELEASES = 3

export interface Release {
  version: string
  /** Hash over the path and content of every file. */
  sha256: string
  current: boolean
  installed_at: number
  files: number
  bytes: number
}

/** The result of an installation, update or rollback. */
export interface InstallResult {
  app: RegisteredApp
  /** The previous version; null for a new app. */
  before: string | null
  /** False if this release was already current. */
  changed: boolean
}

type Received = { path: string; content: Staged }[]

interface Deps {
  database: Database
  contents: Contents
  clock: Clock
  audit: Audit
  policy: () => Promise<AppPolicy>
  registry: AppRegistry
}

const detailsOf = ({ slug, icon, entry, version: _version, ...fields }: AppManifest): AppDetails => ({
  ...fields,
  icon_url: icon === '' ? '' : `/apps/${slug}/${icon}`,
  app_path: `/apps/${slug}/${entry}`,
})

const currentOf = (releases: readonly StoredRelease[]) => releases.find(({ is_current }) => is_current === 1)

/** The releases of an installed app and its current one. Faults: `not_found`, `conflict`. */
async function installedApp(tx: Writer, slug: string) {
  const { id } = await appNamed(tx, slug)
  const releases = await releasesOf(tx, id)
  const current = currentOf(releases)
  if (!current) throw fault('conflict', { text: `"${slug}" was not installed from a package, so it has no releases.` })
  return { id, releases, current }
}

/** Whether a package replaces the current release; false if they are equal. Fault `conflict`. */
function replaces(
  { manifest: { slug, version }, sha256 }: AppPackage,
  current: StoredRelease,
  force: boolean,
): boolean {
  if (sha256 === current.sha256) return false
  const order = compareVersions(version, current.version)
  if (force || order > 0) return true
  const reason =
    order < 0
      ? `Version ${version} of "${slug}" is older than the installed ${current.version}`
      : `Version ${version} of "${slug}" is already installed, with different contents`
  const remedy = order < 0 ? 'go back with svc app rollback, or give --force' : 'raise the version, or give --force'
  throw fault('conflict', { text: `${reason}: ${remedy}.` })
}

/** Stages the files of a package: durable now, or with the transaction that claims them. */
async function stage(contents: Contents, { files }: AppPackage): Promise<Received> {
  const staged: Received = []
  for (const { path, content } of files) {
    async function* source() {
      yield await Promise.resolve(content)
    }
    staged.push({ path, content: await contents.stage(source(), packageLimits.fileBytes) })
  }
  return staged
}

/** Stores a release with the staged files and makes it current. */
async function insert(tx: Writer, { contents, clock }: Deps, app: number, appPackage: AppPackage, files: Received) {
  const now = clock.now()
  for (const { content } of files) await contents.claim(tx, content, now)
  await insertRelease(tx, {
    app_id: app,
    version: appPackage.manifest.version,
    sha256: appPackage.sha256,
    manifest: JSON.stringify(appPackage.manifest),
    installed_at: now,
    files: files.map(({ path, content: { sha256, size } }) => ({ path, sha256, size })),
  })
}

/** InstallResult apps. Their files are served from the database and the blob store. */
export function makeAppReleases(deps: Deps) {
  const { database, contents, clock, audit, policy, registry } = deps
  return {
    /** The stored releases of an app, newest first; empty for an app that was not installed. Fault `not_found`. */
    async list(slug: string): Promise<Release[]> {
      const { id } = await appNamed(database.read, slug)
      const releases = await releasesOf(database.read, id)
      return Promise.all(
        releases.map(async ({ id: release, is_current, ...rest }) => ({
          ...rest,
          current: is_current === 1,
          ...(await releaseSize(database.read, release)),
        })),
      )
    },

    /** Installs a new app. Fault `exists`; reinstalling the current release changes nothing. */
    async install(appPackage: AppPackage): Promise<InstallResult> {
      const files = await stage(contents, appPackage)
      const { manifest, sha256 } = appPackage
      const { slug, version } = manifest
      const changed = await database.write('instance', async (tx) => {
        const existing = await appBySlug(tx, slug)
        const current = existing && currentOf(await releasesOf(tx, existing.id))
        if (current?.sha256 === sha256) return false
        if (current)
          throw fault('exists', {
            text: `"${slug}" is installed in version ${current.version}: use svc app update ${slug}.`,
          })
        const row = { slug, ...rowOf(detailsOf(manifest)), is_system: 1, created_by: null }
        const id = await insertApp(tx, row, clock.now())
        if (id === undefined) throw taken(slug)
        await insert(tx, deps, id, appPackage, files)
        await audit.record(tx, { kind: 'app.installed', detail: { slug, version, sha256 } })
        return true
      })
      return { app: await registry.find(slug), before: changed ? null : version, changed }
    },

    /**
     * Makes a new release current; deletes releases that were rolled back and all but the last three. Faults: `not_found`;
     * `conflict` for an older version, or the same version with different contents, unless `force`.
     */
    async update(slug: string, appPackage: AppPackage, force: boolean): Promise<InstallResult> {
      const { manifest, sha256 } = appPackage
      if (manifest.slug !== slug)
        throw fault('bad_request', { text: `The package is one of "${manifest.slug}", not of "${slug}".` })
      const files = await stage(contents, appPackage)
      const done = await database.write('instance', async (tx) => {
        const { id, releases, current } = await installedApp(tx, slug)
        if (!replaces(appPackage, current, force)) return { before: current.version, changed: false }
        const newer = releases.filter((release) => release.id > current.id)
        const kept = releases.filter((release) => release.id <= current.id)
        await deleteReleases(
          tx,
          [...newer, ...kept.slice(MAX_RELEASES - 1)].map((release) => release.id),
        )
        await insert(tx, deps, id, appPackage, files)
        await updateApp(tx, id, rowOf(detailsOf(manifest)), clock.now())
        const detail = { slug, version: manifest.version, sha256, before: current.version }
        await audit.record(tx, { kind: 'app.updated', detail })
        return { before: current.version, changed: true }
      })
      return { app: await registry.find(slug), ...done }
    },

    /** Makes the previous release, or the one of a version, current again. Faults: `not_found`, `conflict`. */
    async rollback(slug: string, version?: string): Promise<InstallResult> {
      const before = await database.write('instance', async (tx) => {
        const { id, releases, current } = await installedApp(tx, slug)
        const target = releases.find((release) =>
          version === undefined ? release.id < current.id : release.version === version && release.id !== current.id,
        )
        if (!target) throw noRelease(slug, version, releases)
        await makeCurrent(tx, id, target.id)
        const manifest = JSON.parse(await releaseManifest(tx, target.id)) as AppManifest
        await updateApp(tx, id, rowOf(detailsOf(manifest)), clock.now())
        const detail = { slug, version: target.version, sha256: target.sha256, before: current.version }
        await audit.record(tx, { kind: 'app.rolled_back', detail })
        return current.version
      })
      return { app: await registry.find(slug), before, changed: true }
    },

    /** A file of the current release; undefined if there is none, or the app is disabled. */
    async file(slug: string, path: string): Promise<{ sha256: string; size: number } | undefined> {
      if ((await policy()).disabled.includes(slug)) return undefined
      return servedFile(database.read, slug, path)
    },
  }
}

function noRelease(slug: string, version: string | undefined, releases: readonly StoredRelease[]) {
  const others = releases.filter(({ is_current }) => is_current === 0).map((release) => release.version)
  const kept = others.length > 0 ? `kept are ${others.join(' and ')}` : 'no other is kept'
  const wanted = version === undefined ? 'no release before the one in force' : `no other release ${version}`
  return fault('not_found', { text: `"${slug}" has ${wanted}; ${kept}.` })
}
