import { desktopComponents } from '../../contract/desktop-components.ts'
import { authorOf } from '../author.ts'
import { handle } from '../handle.ts'

export const save = handle(desktopComponents.actions.save, async ({ params, caller, domain }) => ({
  version: await domain.desktop.components.save(authorOf(caller), params),
  component_id: params.component_id,
}))
