const LOOPBACK = /^(localhost|.+\.localhost|127(\.\d{1,3}){3}|\[::1\])$/

/** Whether an address names this machine, so that nobody else hears what is said to it. */
export const isLoopback = (url: string): boolean => LOOPBACK.test(new URL(url).hostname)

/** Why an address cannot be used, as the end of a sentence that begins with it. */
export class BadAddress extends Error {
  override name = 'BadAddress'
  readonly exitCode = 2
}

/**
 * The address of a server as it is kept: with its scheme (https where none is given, http for this machine), without a
 * trailing slash. Throws `BadAddress` for what no server can have.
 */
export function normalAddress(text: string): string {
  const trimmed = text.trim()
  const url = parse(/^[a-z][a-z0-9+.-]*:\/\//i.test(trimmed) ? trimmed : guessScheme(trimmed))
  if (!url || !['http:', 'https:'].includes(url.protocol) || url.hostname === '') {
    throw new BadAddress(`"${trimmed}" is not the address of a server: it looks like https://cloud.example.org.`)
  }
  if (url.username !== '' || url.password !== '') {
    throw new BadAddress('Leave the user name and the password out of the address: others can read it.')
  }
  if (url.search !== '' || url.hash !== '') {
    throw new BadAddress(`The address of a server has no "${url.search === '' ? '#' : '?'}" in it.`)
  }
  return `${url.origin}${url.pathname}`.replace(/\/+$/, '')
}

/** Refuses to send a password or a token in the clear over a network. */
export function mustBePrivate(url: string, insecure: boolean): void {
  if (insecure || url.startsWith('https:') || isLoopback(url)) return
  throw new BadAddress(
    `${url} is not encrypted, so anybody on the way could read the password and the token: use https, or accept that with --insecure.`,
  )
}

function guessScheme(text: string): string {
  const https = parse(`https://${text}`)
  return https && isLoopback(https.href) ? `http://${text}` : `https://${text}`
}

function parse(text: string): URL | undefined {
  return URL.canParse(text) ? new URL(text) : undefined
}
