import { JsonList } from '../../domain/json-list.ts'
import { filesystem } from '../../contract/filesystem.ts'
import { handle } from '../handler.ts'

export const photos = handle(filesystem.actions.photos, async ({ caller, domain }) => {
  const listed = await domain.files.photos.list(caller.user.id)
  return { photos: await JsonList.of(listed.photos), complete: listed.complete }
})
