const NAME = 'PHPSESSID'

/**
 * The session id of a Cookie header. Two of them are as good as none: somebody beside the service (a page of a sibling
 * domain) can add one, and must not decide whose session counts.
 */
export function sessionCookieOf(header: string | undefined): string | undefined {
  if (!header?.includes(NAME)) return undefined
  const values = header.split(';').flatMap((pair) => {
    const equals = pair.indexOf('=')
    return equals > 0 && pair.slice(0, equals).trim() === NAME ? [pair.slice(equals + 1).trim()] : []
  })
  return values.length === 1 ? values[0] : undefined
}

/** The Set-Cookie header that begins a session, or with undefined ends it in the browser. */
export function setSessionCookie(value: string | undefined, secure: boolean): string {
  const life = value === undefined ? '; Max-Age=0' : ''
  return `${NAME}=${value ?? ''}; Path=/; HttpOnly; SameSite=Lax${secure ? '; Secure' : ''}${life}`
}
