import type { AnyAction } from './contract.ts'
import { errors, type ErrorCode } from './errors.ts'
import { limits, LIMIT_WINDOW } from './limits.ts'

// Documentation of an action, derived from its declaration: credentials, rate limit, errors.

export const takesSession = ({ auth }: AnyAction): boolean => auth !== 'anyone' && auth.session === true

export const takesDevice = ({ auth }: AnyAction): boolean => auth !== 'anyone' && auth.device === true

/** Whether a session must send its CSRF token. */
export const needsToken = (action: AnyAction): boolean => action.method === 'POST' && takesSession(action)

/** The credentials of an action in words. */
export function describeAuth(action: AnyAction): string {
  const { auth, sameOrigin } = action
  if (auth === 'anyone') return sameOrigin ? 'none, but not from pages of other sites' : 'none'
  const session = needsToken(action) ? 'session with `X-CSRF-Token`' : 'session'
  const kinds = [takesDevice(action) && 'device token', takesSession(action) && session].filter(Boolean).join(' or ')
  return auth.admin ? `${kinds}, administrators only` : kinds
}

/** The rate limit of an action in words. */
export const describeLimit = ({ limit, cost }: AnyAction): string =>
  limit === 'none'
    ? 'none'
    : `${limits[limit]} requests in ${LIMIT_WINDOW} seconds (\`limits.${limit}\`)${
        cost === undefined ? '' : `; each costs ${cost} of the account's ${limits.cost} (\`limits.cost\`)`
      }`

/** Error codes of an action: the general ones and its own. */
export function errorsOf(action: AnyAction): ErrorCode[] {
  const general: ErrorCode[] = ['bad_request', 'misdirected_request', 'busy', 'internal']
  if (action.auth !== 'anyone') general.push('unauthorized')
  if (action.auth !== 'anyone' && action.auth.admin) general.push('forbidden')
  if (takesSession(action)) general.push('2fa_required')
  if (takesSession(action) || action.sameOrigin) general.push('csrf')
  if (action.limit !== 'none') general.push('rate_limited')
  if (!action.openIn?.includes('maintenance')) general.push('maintenance')
  if (!action.openIn?.includes('setup')) general.push('setup_required')
  if (action.method === 'POST' && action.sends !== 'bytes') general.push('unsupported_media_type', 'too_large')
  if (action.method === 'POST') general.push('disk_full')
  return [...new Set([...general, ...action.errors])].sort((a, b) => errors[a][0] - errors[b][0])
}
