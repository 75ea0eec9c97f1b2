import { badRequest } from '../../contract/errors.ts'
import type { Params } from '../../contract/define.ts'
import { syncFiles } from '../../contract/sync-files.ts'
import { handle } from '../handle.ts'
import { checkerFor } from '../params.ts'
import { expectationOf } from './preconditions.ts'

type UploadParams = Params<typeof syncFiles.actions.upload>

const HASH = /^[0-9a-f]{64}$/

const checker = checkerFor(syncFiles.actions.upload.params)

/** The query's parameters, completed by fields of a multipart body. */
function completed(params: UploadParams, fields: Record<string, string>): UploadParams {
  if (Object.keys(fields).length === 0) return params
  return { ...(checker.fromTexts({ ...fields, path: params.path }) as UploadParams), ...params }
}

export const upload = handle(syncFiles.actions.upload, async ({ params, caller, domain, headers, incoming }) => {
  const user = caller.user.id
  const { body, length, fields } = incoming
  const sha256 = headers['x-file-sha256']?.toLowerCase()
  if (sha256 !== undefined && !HASH.test(sha256)) throw badRequest('X-File-SHA256', 'must be a SHA-256 in hex')
  expectationOf(headers, params)
  const flight = await domain.files.admit(user, params.path, length ?? 0)
  const staged = await domain.files.receive(body, flight)
  const terms = async () => {
    const { mtime, ...expected } = completed(params, await fields())
    return { mtime, expectation: expectationOf(headers, expected) }
  }
  const { mtime, expectation } = await terms().catch(async (error: unknown) => {
    await domain.files.settle(staged)
    throw error
  })
  return domain.files.write(user, params.path, { staged, claimed: { sha256, length }, mtime, expectation })
})
