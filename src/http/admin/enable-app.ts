import { admin } from '../../contract/admin.ts'
import { handle } from '../handler.ts'
import { auditActorOf } from '../actor.ts'

export const enableApp = handle(admin.actions.enable_app, async (call) => ({
  changed: await call.domain.desktop.registry.enable(call.params.slug, auditActorOf(call)),
}))
