import { filesystem } from '../../contract/filesystem.ts'
import { handle } from '../handler.ts'

export const quota = handle(filesystem.actions.quota, async ({ caller, domain }) => ({
  ...(await domain.files.desktop.quota(caller.user.id)),
  data: await domain.instance.usage.keptBy(caller.user.id),
}))
