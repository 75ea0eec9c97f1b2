import { computed, signal } from '@preact/signals'
import { formatCsv, guardFormula } from '../../../base/csv.ts'
import { openEntries, type Entry } from '../../kit/entries.ts'
import { distinctNames } from '../../kit/formats.ts'
import { today } from '../../kit/local-day.ts'
import { decimal } from './amounts.ts'

export type Transaction = Entry<'svc_finance'>

export const kinds = ['expense', 'income', 'transfer'] as const
export type Kind = (typeof kinds)[number]

export const entries = openEntries('svc_finance', {
  blank: {
    kind: 'expense',
    amount_cents: 0,
    currency: 'EUR',
    category: null,
    description: null,
    account: null,
    booked_on: today(),
  },
  isComplete: ({ amount_cents }) => amount_cents !== 0,
})

export const searchText = signal('')
/** `2026-11`, or empty for all. */
export const month = signal('')
export const category = signal('')

export const months = computed(() =>
  distinctNames(entries.all.value.map(({ booked_on }) => booked_on.slice(0, 7))).toReversed(),
)
export const categories = computed(() => distinctNames(entries.all.value.map((one) => one.category)))
export const accounts = computed(() => distinctNames(entries.all.value.map((one) => one.account)))
/** Most used first. */
export const currencies = computed(() => {
  const counts = new Map<string, number>()
  for (const { currency } of entries.all.value) counts.set(currency, (counts.get(currency) ?? 0) + 1)
  return [...counts].toSorted(([, a], [, b]) => b - a).map(([currency]) => currency)
})

/** Transactions of the table, newest first. */
export const transactions = computed(() => {
  const words = searchText.value.toLowerCase().split(/\s+/)
  return entries.all.value
    .filter(({ booked_on }) => booked_on.startsWith(month.value))
    .filter((one) => category.value === '' || one.category === category.value)
    .filter((one) => {
      const text = [one.description, one.category, one.account, one.currency].join('\n').toLowerCase()
      return words.every((word) => text.includes(word))
    })
    .toSorted((a, b) => b.booked_on.localeCompare(a.booked_on) || Number(b.row?.id ?? 1e9) - Number(a.row?.id ?? 1e9))
})

interface Total {
  currency: string
  income: bigint
  expense: bigint
}

/** Sums by currency, in cents; transfers do not count. */
export function totalsOf(selected: readonly Transaction[]): Total[] {
  const totals = new Map<string, Total>()
  for (const { currency, kind, amount_cents } of selected) {
    const total = totals.get(currency) ?? { currency, income: 0n, expense: 0n }
    if (kind === 'income') total.income += BigInt(amount_cents)
    if (kind === 'expense') total.expense += BigInt(amount_cents)
    totals.set(currency, total)
  }
  return currencies.value.flatMap((currency) => totals.get(currency) ?? [])
}

/** Income and expenses of the twelve months up to the selected or newest one, in one currency. */
export function monthly(currency: string): (Total & { month: string })[] {
  const last = month.value || months.value[0] || today().slice(0, 7)
  const [year, number] = last.split('-').map(Number)
  return Array.from({ length: 12 }, (_, index) => {
    const name = today(new Date(year!, number! - 12 + index, 1, 12)).slice(0, 7)
    const found = entries.all.value.filter((one) => one.currency === currency && one.booked_on.startsWith(name))
    return { month: name, ...(totalsOf(found)[0] ?? { currency, income: 0n, expense: 0n }) }
  })
}

const guardText = (text: string | null): string | null => text && guardFormula(text)

/** The visible transactions as CSV, with column names of the table and decimal amounts. */
export const csv = (): string =>
  formatCsv([
    ['booked_on', 'kind', 'amount', 'currency', 'category', 'description', 'account'],
    ...transactions.value.map((one) => [
      one.booked_on,
      one.kind,
      decimal(BigInt(one.amount_cents)),
      one.currency,
      guardText(one.category),
      guardText(one.description),
      guardText(one.account),
    ]),
  ])
