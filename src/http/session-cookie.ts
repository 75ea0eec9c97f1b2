const NAME = 'PHPSESSID'

/** Undefined for two cookies: a page of a sibling domain can add one and must not choose the session. */
export function sessionCookieOf(header: string | undefined): string | undefined {
  if (!header?.includes(NAME)) return undefined
  const values = header.split(';').flatMap((pair) => {
    const equals = pair.indexOf('=')
    return equals > 0 && pair.slice(0, equals).trim() === NAME ? [pair.slice(equals + 1).trim()] : []
  })
  return values.length === 1 ? values[0] : undefined
}

/** The Set-Cookie header that sets the session, or deletes it with undefined. */
export function setSessionCookie(value: string | undefined, secure: boolean): string {
  const maxAge = value === undefined ? '; Max-Age=0' : ''
  return `${NAME}=${value ?? ''}; Path=/; HttpOnly; SameSite=Lax${secure ? '; Secure' : ''}${maxAge}`
}
