import { describeError, fieldProblems, ApiError } from '../../kit/api-error.ts'
import { words } from './words.ts'

const codeOf = (error: unknown): string => (error instanceof ApiError ? error.code : '')

/** Error messages for administrators, where the general ones would mislead. */
export function describeAdminError(error: unknown): string {
  if (codeOf(error) === 'exists') return words('name_taken')
  if (codeOf(error) === 'conflict' && error instanceof ApiError && error.message !== '') return error.message
  return describeError(error)
}

/** Maps a refusal to error messages of form fields. */
export function formProblems(error: unknown): {
  current?: string
  username?: string
  password?: string
  schedule?: string
  other?: string
} {
  if (error === undefined) return {}
  const fields = fieldProblems(error)
  if (codeOf(error) === 'invalid_credentials') return { current: words('wrong_password') }
  if (codeOf(error) === 'exists') return { username: words('name_taken') }
  if (codeOf(error) === 'bad_request' && 'username' in fields) return { username: words('username_rule') }
  if (codeOf(error) === 'bad_request' && 'password' in fields) return { password: words('password_rule') }
  if (codeOf(error) === 'bad_request' && 'schedule' in fields) return { schedule: words('schedule_rule') }
  return { other: describeAdminError(error) }
}
