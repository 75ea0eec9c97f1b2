import { admin } from '../../contract/admin.ts'
import { handle } from '../handler.ts'

export const apps = handle(admin.actions.apps, async ({ domain: { desktop } }) => ({
  apps: (await desktop.registry.list()).map(({ slug, name, source, owner, version, admin_only, disabled }) => ({
    slug,
    name,
    source,
    owner,
    version,
    admin_only,
    disabled,
  })),
}))
