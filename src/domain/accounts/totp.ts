import { timingSafeEqual } from 'node:crypto'
import { generateSecret, generateSync, generateURI } from 'otplib'

const STEP_SECONDS = 30
const DIGITS = 6

/** Steps by which the clock of a phone may be off, either way (RFC 6238 section 5.2). */
const WINDOW = 1

/** A fresh secret of 20 bytes in base32, as authenticator apps take it (RFC 4226 section 4). */
export const newTotpSecret = (): string => generateSecret({ length: 20 })

/** The address in the QR code that authenticator apps scan. */
export const totpAddress = (secret: string, issuer: string, username: string): string =>
  generateURI({ secret, issuer, label: username, digits: DIGITS, period: STEP_SECONDS })

/** What authenticator apps show beside the name: the host that people know the service by. */
export const issuerOf = (publicUrl: string): string => (publicUrl ? new URL(publicUrl).hostname : 'svc')

/** Whether a text has the form of a code, rather than that of a backup code. */
export const isTotpCode = (text: string): boolean => /^\d{6}$/.test(text)

/**
 * The step whose code this is: the current one, the one before or the one after; undefined when it is none of them
 * (RFC 6238: HMAC-SHA-1, six digits, 30 s). All are compared in constant time.
 */
export function matchingStep(secret: string, code: string, now: number): number | undefined {
  if (!isTotpCode(code)) return undefined
  const current = Math.floor(now / 1_000 / STEP_SECONDS)
  let found: number | undefined
  for (let step = Math.max(0, current - WINDOW); step <= current + WINDOW; step += 1) {
    // otplib's own check accepts earlier codes only and does not say which step it found, so each step is asked for.
    const expected = generateSync({ secret, strategy: 'hotp', counter: step, digits: DIGITS })
    if (timingSafeEqual(Buffer.from(expected), Buffer.from(code))) found = step
  }
  return found
}
