import type { Fault } from '../contract/errors.ts'

export const failureBody = ({ message, code, extra }: Fault) => ({
  ok: false,
  success: false,
  error: message,
  code,
  ...extra.fields,
})
