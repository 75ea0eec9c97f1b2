import { language } from '../../kit/language.ts'

/** Largest stored amount, cents. */
const MAX_CENTS = 10n ** 15n

/**
 * Parses an amount to cents: `12`, `12.5`, `1,234.50`, `1.234,50`. The last point or comma before one or two digits is
 * the decimal separator. Undefined if invalid.
 */
export function parseAmount(text: string): number | undefined {
  const found = /^(-?)(\d{1,3}(?:[.,' \u00a0\u202f]\d{3})+|\d+)(?:[.,](\d{1,2}))?$/.exec(text.trim())
  if (!found) return undefined
  const cents = BigInt(found[2]!.replace(/\D/g, '') + (found[3] ?? '').padEnd(2, '0'))
  if (cents > MAX_CENTS) return undefined
  return Number(found[1] === '-' ? -cents : cents)
}

/** Exact decimal number: `-1234.05`. */
export function decimal(cents: bigint): `${number}` {
  const digits = (cents < 0n ? -cents : cents).toString().padStart(3, '0')
  return `${cents < 0n ? '-' : ''}${digits.slice(0, -2)}.${digits.slice(-2)}` as `${number}`
}

/** A localised amount, exact for any size. */
export const formatAmount = (cents: bigint, currency: string): string =>
  new Intl.NumberFormat(language.value, { style: 'currency', currency, minimumFractionDigits: 2 }).format(
    decimal(cents),
  )

export const formatAmountInput = (cents: number): string =>
  language.value === 'de' ? decimal(BigInt(cents)).replace('.', ',') : decimal(BigInt(cents))
