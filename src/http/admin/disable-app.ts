import { admin } from '../../contract/admin.ts'
import { fault } from '../../contract/errors.ts'
import { handle } from '../handler.ts'
import { auditActorOf } from '../actor.ts'

export const disableApp = handle(admin.actions.disable_app, async (call) => {
  const { slug } = call.params
  if (slug === 'admin') {
    const text = 'This app is the one that switches apps on again; svc app disable admin does it on the machine.'
    throw fault('conflict', { text })
  }
  return { changed: await call.domain.desktop.registry.disable(slug, auditActorOf(call)) }
})
