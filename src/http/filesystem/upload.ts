import { badRequest, fault } from '../../contract/errors.ts'
import { filesystem } from '../../contract/filesystem.ts'
import { handle } from '../handler.ts'

/** Largest size in bytes of everything but the file in a multipart body: fields, names, boundaries. */
const ENVELOPE = 128 * 1024

export const upload = handle(filesystem.actions.upload, async ({ params, caller, domain, headers, payload }) => {
  const { desktop } = domain.files
  const { body, filename, fields } = payload
  if (!filename) throw badRequest('file', 'must be a part of multipart/form-data with a file name')
  if (filename.includes('/')) throw fault('bad_path', { text: 'The name of a file must not hold "/".' })
  const path = `${params.path.replace(/\/$/, '')}/${filename}`
  // Refuses early if the file alone must exceed the quota, even with the largest possible envelope.
  const admitted = await desktop.admit(
    caller.user.id,
    path,
    Math.max(0, Number(headers['content-length'] ?? 0) - ENVELOPE),
  )
  const staged = await desktop.receive(body, admitted)
  await fields().catch(async (error: unknown) => {
    await desktop.settle(staged)
    throw error
  })
  const { size } = await desktop.write(caller.user.id, path, {
    staged,
    expectation: { absent: params.if_absent },
  })
  return { path, size }
})
