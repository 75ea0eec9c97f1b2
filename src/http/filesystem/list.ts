import { JsonList } from '../../domain/json-list.ts'
import { filesystem } from '../../contract/filesystem.ts'
import { handle } from '../handler.ts'

export const list = handle(filesystem.actions.list, async ({ params: { path = '/', ids }, caller, domain }) => ({
  items: await JsonList.of(await domain.files.desktop.list(caller.user.id, path, { ids })),
  path,
}))
