/** One year, in seconds. */
const HSTS_AGE = 31_536_000

/**
 * Headers of every response, including errors (OWASP HTTP Headers Cheat Sheet): no sniffing, framing or scripts. Routes
 * that serve pages override the policy.
 */
export const securityHeaders = (publicUrl: string): Record<string, string> => ({
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'content-security-policy': "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  ...(publicUrl.startsWith('https:') ? { 'strict-transport-security': `max-age=${HSTS_AGE}` } : {}),
})

/** The end of every policy of pages that the desktop frames. */
const framedOnly = ["base-uri 'none'", "form-action 'none'", "webrtc 'block'", "frame-ancestors 'self'"]

/**
 * Headers of files of custom apps. They run without an origin even when opened directly: no cookies, storage or pages
 * of this server, and only files of this server load. Frames without an origin need CORS even for their own files,
 * which are public anyway.
 */
export const appFileHeaders = {
  'content-security-policy': [
    'sandbox allow-scripts allow-forms allow-popups',
    "default-src 'none'",
    "script-src 'self' 'wasm-unsafe-eval'",
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data: blob:",
    "media-src 'self' data: blob:",
    "font-src 'self' data:",
    "connect-src 'self'",
    'worker-src blob:',
    ...framedOnly,
  ].join('; '),
  'x-frame-options': 'SAMEORIGIN',
  'x-dns-prefetch-control': 'off',
  'permissions-policy': 'camera=(), geolocation=(), microphone=(), payment=(), usb=()',
  'access-control-allow-origin': '*',
  'cross-origin-resource-policy': 'cross-origin',
  // Browsers refuse a sandboxed page with its own opener policy group (HTML, 7.1.3).
  'cross-origin-opener-policy': 'unsafe-none',
}

/** Browser features that pages of this package never use. */
const permissionsPolicy = 'camera=(), display-capture=(), geolocation=(), microphone=(), payment=(), usb=()'

/** Only scripts and styles of the package run, and frames cannot navigate to other sites. */
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
    "manifest-src 'self'",
    "worker-src 'self'",
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    // Of desktop/shell/worker-scripts.ts, which makes two addresses.
    'trusted-types worker-scripts',
  ].join('; '),
  'permissions-policy': permissionsPolicy,
  'referrer-policy': 'same-origin',
  'cache-control': 'no-cache',
}

/** Like custom apps, but without network access, so that injected content cannot leak data. */
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
    // For file decoders; the policy applies inside workers too.
    'worker-src blob:',
    ...framedOnly,
  ].join('; '),
  'permissions-policy': permissionsPolicy,
  'cache-control': 'no-cache',
}

/**
 * Headers of the frame that runs components: no origin and no network. The first policy allows the bootstrap script by
 * hash and scripts that it adds ('strict-dynamic'), but no script in markup, so that a nested frame cannot provide an
 * unmodified realm. A nonce would leak through `originalPolicy` of a violation event. The second policy forbids scripts
 * from URLs.
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
      ...framedOnly,
    ].join('; '),
    "script-src 'unsafe-inline' blob:; worker-src blob:",
  ].join(', '),
  'permissions-policy': permissionsPolicy,
  'cache-control': 'no-store',
})

/** Headers of the page around an app of another origin: it frames that origin only. */
export const appFrameHeaders = (scriptHash: string, origin = "'none'"): Record<string, string> => ({
  ...appFileHeaders,
  'content-security-policy': [
    'sandbox allow-scripts allow-forms allow-popups allow-downloads',
    "default-src 'none'",
    `script-src 'sha256-${scriptHash}'`,
    "style-src 'unsafe-inline'",
    `frame-src ${origin}`,
    ...framedOnly,
  ].join('; '),
  'permissions-policy': permissionsPolicy,
  'cache-control': 'no-cache',
})

/** Headers of what the desktop is installed with: the manifest, icons and service worker. */
export const installationHeaders: Record<string, string> = {
  // That of the service worker, which runs under it, and may only fetch from this server.
  'content-security-policy': "default-src 'none'; connect-src 'self'",
  'cache-control': 'no-cache',
}

/** Headers of the desktop's assets: their names contain a content hash, and frames without an origin read them. */
export const assetHeaders: Record<string, string> = {
  'cache-control': 'public, max-age=31536000, immutable',
  'access-control-allow-origin': '*',
  'cross-origin-resource-policy': 'cross-origin',
}
