import { activate } from './activate.ts'
import { deleteProfile } from './delete-profile.ts'
import { get } from './get.ts'
import { history } from './history.ts'
import { list } from './list.ts'
import { loadProfile } from './load-profile.ts'
import { overview } from './overview.ts'
import { profiles } from './profiles.ts'
import { renameProfile } from './rename-profile.ts'
import { resetAll } from './reset-all.ts'
import { reset } from './reset.ts'
import { saveProfile } from './save-profile.ts'
import { save } from './save.ts'

export const desktopComponentsHandlers = [
  list,
  overview,
  get,
  save,
  history,
  activate,
  reset,
  resetAll,
  saveProfile,
  loadProfile,
  profiles,
  renameProfile,
  deleteProfile,
]
