import { Readable } from 'node:stream'
import { filesystem } from '../../contract/filesystem.ts'
import { handle } from '../handler.ts'

export const write = handle(filesystem.actions.write, async ({ params, caller, domain }) => {
  const { path, content, if_sha256, if_absent } = params
  const { desktop } = domain.files
  const bytes = Buffer.from(content)
  const admitted = await desktop.admit(caller.user.id, path, bytes.length)
  const { sha256 } = await desktop.write(caller.user.id, path, {
    staged: await desktop.receive(Readable.from([bytes]), admitted),
    expectation: { sha256: if_sha256, absent: if_absent },
  })
  return { path, sha256 }
})
