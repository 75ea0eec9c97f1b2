import { accountSettings } from './account-settings.ts'
import { admin } from './admin.ts'
import { apps } from './apps.ts'
import { assistant } from './assistant.ts'
import type { ActionSpec } from './define.ts'
import { desktopComponents } from './desktop-components.ts'
import { filesystem } from './filesystem.ts'
import { rows } from './rows.ts'
import { search } from './search.ts'
import { session, sessionLogin, sessionLogin2fa, sessionLogout } from './session.ts'
import { setup } from './setup.ts'
import { syncAuth } from './sync-auth.ts'
import { syncData } from './sync-data.ts'
import { syncFiles } from './sync-files.ts'
import { syncStatus } from './sync-status.ts'
import { teamChat } from './team-chat.ts'
import { trash } from './trash.ts'
import { versions } from './versions.ts'

/** All endpoints of the API. */
export const contract = {
  syncAuth,
  syncData,
  syncFiles,
  syncStatus,
  sessionLogin,
  sessionLogin2fa,
  session,
  sessionLogout,
  accountSettings,
  setup,
  rows,
  filesystem,
  trash,
  versions,
  teamChat,
  search,
  assistant,
  desktopComponents,
  apps,
  admin,
}

export type AnyAction = ActionSpec & { name: string; path: string }

/** The address of an action below its endpoint, an alternative to `?action=`. */
export const addressBelow = ({ path, name }: AnyAction): string => `${path}/${name}`

/** All actions, in the order of the documentation. */
export const actions: readonly AnyAction[] = Object.values(contract).flatMap((endpoint): AnyAction[] =>
  Object.values(endpoint.actions),
)
