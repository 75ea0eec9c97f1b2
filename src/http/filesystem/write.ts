import { Readable } from 'node:stream'
import { filesystem } from '../../contract/filesystem.ts'
import { handle } from '../handle.ts'

export const write = handle(filesystem.actions.write, async ({ params: { path, content }, caller, domain }) => {
  const { desktop } = domain.files
  const bytes = Buffer.from(content)
  await desktop.admit(caller.user.id, path, bytes.length)
  await desktop.write(caller.user.id, path, { staged: await desktop.receive(Readable.from([bytes])) })
  return { path }
})
