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
export { examinePackage, packageLimits, type AppPackage, type Examined } from './app-package.ts'
export type { RegisteredApp } from './app-registry.ts'
export type { Release } from './app-releases.ts'
export { addVersion, readComponent, type Author, type NewComponent } from './components.ts'
export { isComponentChange, undoableComponents, type ComponentChange } from './undoable-components.ts'
export { assertApp } from './apps.ts'
export { isSystemSlug, seedSystemApps } from './system-apps.ts'

interface Parts {
  database: Database
  contents: Contents
  settings: Settings
  clock: Clock
  audit: Audit
  /** What an administrator decided about apps; read anew wherever it counts. */
  appPolicy: () => Promise<AppPolicy>
}

/** What users see on their desktop: their own components, profiles of them, and apps. */
export function makeDesktop({ database, contents, settings, clock, audit, appPolicy: policy }: Parts) {
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
