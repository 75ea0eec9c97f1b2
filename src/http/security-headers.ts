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
    "webrtc 'block'",
    "frame-ancestors 'self'",
  ].join('; '),
  'x-frame-options': 'SAMEORIGIN',
  'x-dns-prefetch-control': 'off',
  'permissions-policy': 'camera=(), geolocation=(), microphone=(), payment=(), usb=()',
  'access-control-allow-origin': '*',
  'cross-origin-resource-policy': 'cross-origin',
  // Browsers refuse to open a page that is both sandboxed and in a group of its own (HTML, 7.1.3).
  'cross-origin-opener-policy': 'unsafe-none',
}

/** What a page of the desktop's own may not use of the machine. */
const powers = 'camera=(), display-capture=(), geolocation=(), microphone=(), payment=(), usb=()'

/**
 * The page of the desktop: everything from here, no script or style but those of the package. It is this policy that keeps its frames
 * from navigating elsewhere.
 */
export const desktopHeaders: Record<string, string> = {
  'content-security-policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data: blob:",
    "font-src 'self'",
    "connect-src 'self'",
    "media-src 'self' blob:",
    "frame-src 'self'",
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; '),
  'permissions-policy': powers,
  'referrer-policy': 'same-origin',
  'cache-control': 'no-cache',
}

/**
 * An app of the package: it runs without an origin like any other, and has less than a custom one: no address at all can be
 * asked from it, so that whatever gets into it can tell nobody. It speaks with the desktop only.
 */
export const systemAppHeaders: Record<string, string> = {
  ...appFileHeaders,
  'content-security-policy': [
    'sandbox allow-scripts allow-forms allow-downloads',
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data: blob:",
    'media-src data: blob:',
    "font-src 'self'",
    "connect-src 'none'",
    // What takes files apart; the policy holds in there too.
    'worker-src blob:',
    "base-uri 'none'",
    "form-action 'none'",
    "webrtc 'block'",
    "frame-ancestors 'self'",
  ].join('; '),
  'permissions-policy': powers,
  'cache-control': 'no-cache',
}

/**
 * The frame in which a component of the desktop runs: without an origin, and without anything to ask or tell. The first policy
 * runs the script of this hash, and what that adds to the page; nothing that a component writes into markup, so that a frame made of
 * markup gives no realm back that is still whole. A nonce would not do: `originalPolicy` of a violation tells it. The second keeps
 * scripts of addresses out.
 */
export const sandboxHeaders = (scriptHash: string): Record<string, string> => ({
  ...appFileHeaders,
  'content-security-policy': [
    [
      'sandbox allow-scripts',
      "default-src 'none'",
      `script-src 'sha256-${scriptHash}' 'strict-dynamic'`,
      "style-src 'unsafe-inline'",
      'img-src data:',
      "connect-src 'none'",
      'worker-src blob:',
      "base-uri 'none'",
      "form-action 'none'",
      "webrtc 'block'",
      "frame-ancestors 'self'",
    ].join('; '),
    "script-src 'unsafe-inline' blob:; worker-src blob:",
  ].join(', '),
  'permissions-policy': powers,
  'cache-control': 'no-store',
})

/** The page around an app of another origin, with the hash of its script: that origin alone is framed, or none. */
export const appFrameHeaders = (scriptHash: string, origin = "'none'"): Record<string, string> => ({
  ...appFileHeaders,
  'content-security-policy': [
    'sandbox allow-scripts allow-forms allow-popups allow-downloads',
    "default-src 'none'",
    `script-src 'sha256-${scriptHash}'`,
    "style-src 'unsafe-inline'",
    `frame-src ${origin}`,
    "base-uri 'none'",
    "form-action 'none'",
    "webrtc 'block'",
    "frame-ancestors 'self'",
  ].join('; '),
  'permissions-policy': powers,
  'cache-control': 'no-cache',
})

/** What pages of the desktop are made of: named by content, and read by frames without an origin too. */
export const assetHeaders: Record<string, string> = {
  'cache-control': 'public, max-age=31536000, immutable',
  'access-control-allow-origin': '*',
  'cross-origin-resource-policy': 'cross-origin',
}
