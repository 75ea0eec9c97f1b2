import type { Static } from 'typebox'
import { LATEST_MTIME, MAX_WAIT } from './limits.ts'
import { Type } from './schema.ts'

// Schemas that several actions share. `description` appears in the API reference.

export const Ok = Type.Literal(true)
export const Id = Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER })
export const Count = Type.Integer({ minimum: 0 })
export const Cursor = Type.Integer({
  minimum: 0,
  maximum: Number.MAX_SAFE_INTEGER,
  description: 'Position in the change feed of one account.',
})
export const Sha256 = Type.String({ pattern: '^[0-9a-f]{64}$', description: 'SHA-256 in lower-case hex.' })
export const Timestamp = Type.String({ description: 'ISO 8601 UTC with milliseconds.' })
export const Mtime = Type.Integer({
  minimum: 0,
  maximum: LATEST_MTIME,
  description: 'Modification time in whole seconds since the epoch.',
})
export const Path = Type.String({
  minLength: 1,
  maxLength: 4_096,
  description: 'Absolute path; segments of at most 255 bytes.',
})
export const Wait = Type.Integer({
  minimum: 0,
  maximum: MAX_WAIT,
  description: 'Long poll: seconds to wait for a change.',
})
export const Limit = (standard: number, max: number) =>
  Type.Integer({ minimum: 1, description: `At most ${max} (larger values are clamped); default ${standard}.` })
export const Epoch = Type.String({ description: 'Changes when the server is restored from a backup.' })
export const ServerId = Type.String({ description: 'Permanent ID of this server.' })

export const Role = Type.Union([Type.Literal('admin'), Type.Literal('user')])
export type Role = Static<typeof Role>

export const User = Type.Object({ id: Id, username: Type.String(), display_name: Type.String() })

export const FileState = Type.Object({
  sha256: Sha256,
  size: Count,
  mtime: Mtime,
  version: Count,
})

/** The current state of a file after a failed precondition; null if it does not exist. */
export type FileState = Static<typeof FileState>
