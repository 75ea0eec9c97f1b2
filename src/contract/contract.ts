import type { ActionSpec } from './define.ts'
import { filesystem } from './filesystem.ts'
import { syncAuth } from './sync-auth.ts'
import { syncData } from './sync-data.ts'
import { syncFiles } from './sync-files.ts'
import { syncStatus } from './sync-status.ts'

/** Every endpoint of the wire. */
export const contract = { syncAuth, syncData, syncFiles, syncStatus, filesystem }

// An example without fields has no index signature, so its type is said anew.
export type AnyAction = ActionSpec & { name: string; path: string }

/** Every action of every endpoint, in the order of the documentation. */
export const actions: readonly AnyAction[] = Object.values(contract).flatMap((endpoint): AnyAction[] =>
  Object.values(endpoint.actions),
)
