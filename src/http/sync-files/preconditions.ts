import { badRequest } from '../../contract/errors.ts'

const HASH = /^"([0-9a-f]{64})"$/

interface Fields {
  if_sha256?: string
  if_absent?: boolean
}

/** Preconditions from headers or fields. Fault `bad_request` for unsupported header values. */
export function expectationOf(headers: Record<string, string | undefined>, { if_sha256, if_absent }: Fields) {
  const match = headers['if-match']
  const hash = match === undefined ? undefined : HASH.exec(match.trim())?.[1]
  if (match !== undefined && hash === undefined) throw badRequest('If-Match', 'must be one SHA-256 in double quotes')
  const none = headers['if-none-match']
  if (none !== undefined && none.trim() !== '*') throw badRequest('If-None-Match', 'must be *')
  return { sha256: hash ?? if_sha256, absent: none !== undefined || if_absent === true }
}
