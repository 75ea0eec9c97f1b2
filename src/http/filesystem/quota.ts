import { filesystem } from '../../contract/filesystem.ts'
import { handle } from '../handle.ts'

export const quota = handle(filesystem.actions.quota, ({ caller, domain }) =>
  domain.files.desktop.quota(caller.user.id),
)
