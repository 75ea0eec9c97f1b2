import type { Fault } from '../contract/errors.ts'

/** The body of every error response, `ok` and `success` for either kind of endpoint. */
export const failureBody = ({ message, code, extra }: Fault) => ({
  ok: false,
  success: false,
  error: message,
  code,
  ...extra.fields,
})
