import { badRequest, fault } from '../../contract/errors.ts'
import { filesystem } from '../../contract/filesystem.ts'
import { handle } from '../handle.ts'

/** Bytes that a multipart body may at most have beside its file, in fields, names and boundaries. */
const ENVELOPE = 128 * 1024

export const upload = handle(filesystem.actions.upload, async ({ params, caller, domain, headers, incoming }) => {
  const { desktop } = domain.files
  const { body, filename, fields } = incoming
  if (!filename) throw badRequest('file', 'must be a part of multipart/form-data with a file name')
  if (filename.includes('/')) throw fault('bad_path', { text: 'The name of a file must not hold "/".' })
  const path = `${params.path.replace(/\/$/, '')}/${filename}`
  // Refused before it is read: what would be too much even if the body had the most beside its file that it can have.
  const flight = await desktop.admit(
    caller.user.id,
    path,
    Math.max(0, Number(headers['content-length'] ?? 0) - ENVELOPE),
  )
  const staged = await desktop.receive(body, flight)
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
