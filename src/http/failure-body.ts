import type { Fault } from '../contract/errors.ts'

/** The body of every failure. */
export const failureBody = ({ message, code, extra }: Fault) => ({
  ok: false,
  success: false,
  error: message,
  code,
  ...extra.fields,
})
