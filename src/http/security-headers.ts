/** One year, in seconds. */
const HSTS_AGE = 31_536_000

/**
 * What browsers are told with every answer, also with errors (OWASP HTTP Headers Cheat Sheet): nothing is to be guessed, framed
 * or run. A route that shows something says so itself with a policy of its own, which then counts instead.
 */
export const securityHeaders = (publicUrl: string): Record<string, string> => ({
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'content-security-policy': "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  ...(publicUrl.startsWith('https:') ? { 'strict-transport-security': `max-age=${HSTS_AGE}` } : {}),
})

/**
 * The same for a file of an app. It belongs into a frame of the desktop, and runs without an origin wherever it is opened: it
 * reaches no cookie, no storage and no page of this server, and loads nothing but files from here. To such a frame even its own
 * files are another origin's, so they may be read by all; everybody may ask for them anyway.
 */
export const appFileHeaders = {
  'content-security-policy': [
    'sandbox allow-scripts allow-forms allow-popups allow-downloads',
    "default-src 'none'",
    "script-src 'self' 'wasm-unsafe-eval'",
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data: blob:",
    "media-src 'self' data: blob:",
    "font-src 'self' data:",
    "connect-src 'self'",
    'worker-src blob:',
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'self'",
  ].join('; '),
  'x-frame-options': 'SAMEORIGIN',
  'permissions-policy': 'camera=(), geolocation=(), microphone=(), payment=(), usb=()',
  'access-control-allow-origin': '*',
  'cross-origin-resource-policy': 'cross-origin',
  // Browsers refuse to open a page that is both sandboxed and in a group of its own (HTML, 7.1.3).
  'cross-origin-opener-policy': 'unsafe-none',
}
