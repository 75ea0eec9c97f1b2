import { desktopComponents } from '../../contract/desktop-components.ts'
import { authorOf } from '../author.ts'
import { handle } from '../handle.ts'

export const activate = handle(desktopComponents.actions.activate, async ({ params, caller, domain }) => {
  const { component_id, version } = params
  await domain.desktop.components.activate(authorOf(caller), component_id, version)
  return { component_id, version }
})
