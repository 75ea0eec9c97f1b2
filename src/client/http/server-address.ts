const LOOPBACK = /^(localhost|.+\.localhost|127(\.\d{1,3}){3}|\[::1\])$/

/** Whether a URL is on this machine, so that nobody else can read the traffic. */
export const isLoopback = (url: string): boolean => LOOPBACK.test(new URL(url).hostname)

/** Why a URL cannot be used, as the end of a sentence that starts with it. */
export class BadAddress extends Error {
  override name = 'BadAddress'
  readonly exitCode = 2
}

/** Normalises a server URL: adds the scheme (https; http for this machine), drops the last slash. Throws `BadAddress`. */
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
    throw new BadAddress(`The address of a server must not contain "${url.search === '' ? '#' : '?'}".`)
  }
  return `${url.origin}${url.pathname}`.replace(/\/+$/, '')
}

/** Refuses to send a password or token unencrypted over a network. */
export function mustBePrivate(url: string, insecure: boolean): void {
  if (insecure || url.startsWith('https:') || isLoopback(url)) return
  throw new BadAddress(
    `${url} is not encrypted, so others on the network could read the password and the token: use https, or accept that with --insecure.`,
  )
}

function guessScheme(text: string): string {
  const https = parse(`https://${text}`)
  return https && isLoopback(https.href) ? `http://${text}` : `https://${text}`
}

function parse(text: string): URL | undefined {
  return URL.canParse(text) ? new URL(text) : undefined
}
