import { timingSafeEqual } from 'node:crypto'
import { generateSecret, generateSync, generateURI } from 'otplib'

const STEP_SECONDS = 30
const DIGITS = 6

/** Time steps by which a phone's clock may be off, either way (RFC 6238 section 5.2). */
const WINDOW = 1

/** A new secret of 20 bytes in base32, the format of authenticator apps (RFC 4226 section 4). */
export const newTotpSecret = (): string => generateSecret({ length: 20 })

/** The otpauth URI in the QR code that authenticator apps scan. */
export const totpUri = (secret: string, issuer: string, username: string): string =>
  generateURI({ secret, issuer, label: username, digits: DIGITS, period: STEP_SECONDS })

/** The issuer that authenticator apps show: the service's host name. */
export const issuerOf = (publicUrl: string): string => (publicUrl ? new URL(publicUrl).hostname : 'svc')

/** Whether a text has the form of a TOTP code rather than a backup code. */
export const isTotpCode = (text: string): boolean => /^\d{6}$/.test(text)

/**
 * The time step that a code belongs to: the current, the previous or the next one; undefined if none (RFC 6238: HMAC-SHA-1,
 * six digits, 30 s). Compares in constant time.
 */
export function matchingStep(secret: string, code: string, now: number): number | undefined {
  if (!isTotpCode(code)) return undefined
  const current = Math.floor(now / 1_000 / STEP_SECONDS)
  let found: number | undefined
  for (let step = Math.max(0, current - WINDOW); step <= current + WINDOW; step += 1) {
    // otplib's own check accepts earlier codes only and does not return the step.
    const expected = generateSync({ secret, strategy: 'hotp', counter: step, digits: DIGITS })
    if (timingSafeEqual(Buffer.from(expected), Buffer.from(code))) found = step
  }
  return found
}
