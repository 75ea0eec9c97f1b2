import { badRequest } from '../../contract/errors.ts'
import type { Params } from '../../contract/define.ts'
import { syncFiles } from '../../contract/sync-files.ts'
import { handle } from '../handler.ts'
import { checkerFor } from '../params.ts'
import { expectationOf } from './preconditions.ts'

type UploadParams = Params<typeof syncFiles.actions.upload>

const HASH = /^[0-9a-f]{64}$/

const checker = checkerFor(syncFiles.actions.upload.params)

/** Parameters of the query, completed by fields of a multipart body. */
function completed(params: UploadParams, fields: Record<string, string>): UploadParams {
  if (Object.keys(fields).length === 0) return params
  return { ...(checker.fromTexts({ ...fields, path: params.path }) as UploadParams), ...params }
}

export const upload = handle(syncFiles.actions.upload, async ({ params, caller, domain, headers, payload }) => {
  const user = caller.user.id
  const { body, length, fields } = payload
  const sha256 = headers['x-file-sha256']?.toLowerCase()
  if (sha256 !== undefined && !HASH.test(sha256)) throw badRequest('X-File-SHA256', 'must be a SHA-256 in hex')
  expectationOf(headers, params)
  const admitted = await domain.files.admit(user, params.path, length ?? 0)
  const staged = await domain.files.receive(body, admitted)
  const readFields = async () => {
    const { mtime, ...expected } = completed(params, await fields())
    return { mtime, expectation: expectationOf(headers, expected) }
  }
  const { mtime, expectation } = await readFields().catch(async (error: unknown) => {
    await domain.files.settle(staged)
    throw error
  })
  return domain.files.write(user, params.path, { staged, claimed: { sha256, length }, mtime, expectation })
})
