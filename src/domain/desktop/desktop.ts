import type { Clock } from '../../base/clock.ts'
import type { Database } from '../../storage/database.ts'
import type { Audit } from '../instance/instance.ts'
import { makeApps, type AppPolicy } from './apps.ts'
import { makeComponents } from './components.ts'
import { makeProfiles } from './profiles.ts'

export { seedSystemApps } from './system-apps.ts'

interface Parts {
  database: Database
  clock: Clock
  audit: Audit
  /** What an administrator decided about apps; read anew wherever it counts. */
  appPolicy: () => Promise<AppPolicy>
}

/** What users see on their desktop: their own components, profiles of them, and apps. */
export function makeDesktop({ database, clock, audit, appPolicy }: Parts) {
  return {
    components: makeComponents({ database, clock }),
    profiles: makeProfiles({ database, clock }),
    apps: makeApps({ database, clock, audit, policy: appPolicy }),
  }
}

export type Desktop = ReturnType<typeof makeDesktop>
