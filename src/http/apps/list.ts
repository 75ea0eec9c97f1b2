import { apps } from '../../contract/apps.ts'
import { handle } from '../handler.ts'

export const list = handle(apps.actions.list, async ({ caller, domain }) => ({
  apps: await domain.desktop.apps.list(caller.user),
}))
