/** Lower-case hex of fresh random bytes from the platform's cryptographic generator. */
export function randomHex(bytes: number): string {
  const buffer = crypto.getRandomValues(new Uint8Array(bytes))
  return Array.from(buffer, (byte) => byte.toString(16).padStart(2, '0')).join('')
}

/** A string of `length` characters drawn evenly from `alphabet` (at most 256 characters) by rejection sampling. */
export function randomText(alphabet: string, length: number): string {
  const limit = 256 - (256 % alphabet.length)
  let text = ''
  while (text.length < length) {
    for (const byte of crypto.getRandomValues(new Uint8Array(length * 2))) {
      if (byte < limit && text.length < length) text += alphabet[byte % alphabet.length]
    }
  }
  return text
}

/** Lower-case letters and digits without those that look alike. */
const READABLE = 'abcdefghjkmnpqrstvwxyz23456789'

/** A password that can be read aloud and typed: nearly 80 random bits in four groups. */
export const readablePassword = (): string => Array.from({ length: 4 }, () => randomText(READABLE, 4)).join('-')
