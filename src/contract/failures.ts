import type { TObject, TProperties } from 'typebox'
import type { ErrorCode } from './errors.ts'
import { FileState, Timestamp } from './shapes.ts'
import { Type } from './schema.ts'

const fieldsOf: { [code in ErrorCode]?: TProperties } = {
  bad_request: {
    details: Type.Optional(
      Type.Array(Type.Object({ path: Type.String(), message: Type.String() }), {
        description: 'The parameters that are not valid, and why.',
      }),
    ),
  },
  conflict: {
    current: Type.Optional(Type.Integer({ minimum: 0, description: 'The newest version of a component.' })),
  },
  precondition_failed: {
    current: Type.Union([FileState, Type.Null()], { description: 'What the file is; null when there is none.' }),
  },
  range_not_satisfiable: { size: Type.Integer({ minimum: 0, description: 'Bytes of the file.' }) },
  internal: {
    request_id: Type.Optional(Type.String({ description: 'ID of the request in the server log.' })),
  },
  maintenance: {
    message: Type.String({ description: 'Message of the administrator.' }),
    until: Type.Union([Timestamp, Type.Null()], { description: 'Announced end; null if unknown.' }),
    read_only: Type.Optional(Type.Literal(true, { description: 'Only changes are refused.' })),
  },
}

/** The body of a failure; some actions add fields to all of their failures. */
export const failureSchema = (code: ErrorCode, more: TProperties = {}): TObject =>
  Type.Object({
    ok: Type.Literal(false),
    success: Type.Literal(false),
    error: Type.String({ description: 'For people.' }),
    code: Type.Literal(code),
    ...fieldsOf[code],
    ...more,
  })
