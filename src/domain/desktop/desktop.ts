import type { Clock } from '../../base/clock.ts'
import type { Contents } from '../../storage/contents/contents.ts'
import type { Database } from '../../storage/engine/database.ts'
import type { Audit, Settings } from '../instance/instance.ts'
import { makeAppRegistry } from './app-registry.ts'
import { makeAppReleases } from './app-releases.ts'
import { makeApps, type AppPolicy } from './apps.ts'
import { makeComponents } from './components.ts'
import { makeProfiles } from './profiles.ts'

export type { Remark } from './app-manifest.ts'
export { validatePackage, packageLimits, type AppPackage, type PackageValidation } from './app-package.ts'
export type { RegisteredApp } from './app-registry.ts'
export type { Release } from './app-releases.ts'
export { addVersion, readComponent, type ComponentEditor, type NewComponent } from './components.ts'
export { isComponentChange, undoableComponents, type ComponentChange } from './undoable-components.ts'
export { assertApp } from './apps.ts'
export { isSystemSlug, seedSystemApps } from './system-apps.ts'

interface Deps {
  database: Database
  contents: Contents
  settings: Settings
  clock: Clock
  audit: Audit
  /** The administrator's settings for apps, read at each use. */
  appPolicy: () => Promise<AppPolicy>
}

/** Users' desktops: apps, components and profiles. */
export function makeDesktop({ database, contents, settings, clock, audit, appPolicy: policy }: Deps) {
  const registry = makeAppRegistry({ database, settings, clock, audit, policy })
  return {
    components: makeComponents({ database, clock, audit }),
    profiles: makeProfiles({ database, clock }),
    apps: makeApps({ database, clock, audit, policy }),
    registry,
    releases: makeAppReleases({ database, contents, clock, audit, policy, registry }),
  }
}

export type Desktop = ReturnType<typeof makeDesktop>
