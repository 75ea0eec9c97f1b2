import { Select, TextField } from '../../kit/field.tsx'
import { words } from './words.ts'

export interface QuotaEntry {
  kind: 'default' | 'none' | 'own'
  /** Gigabytes, as typed. */
  amount: string
}

const GIGABYTE = 1024 ** 3

export function quotaEntryOf(bytes: number | null, isDefault: boolean): QuotaEntry {
  if (isDefault) return { kind: 'default', amount: '' }
  if (bytes === null) return { kind: 'none', amount: '' }
  return { kind: 'own', amount: String(Math.round((bytes / GIGABYTE) * 1_000) / 1_000) }
}

/** The quota in bytes; null for unlimited, undefined for invalid input. */
export function bytesIn({ kind, amount }: QuotaEntry): number | null | undefined {
  if (kind !== 'own') return null
  const value = Number(amount.replace(',', '.'))
  return amount.trim() !== '' && value >= 0 && value <= 1_000_000 ? Math.round(value * GIGABYTE) : undefined
}

/** A quota: the default, unlimited, or a number of gigabytes. */
export function QuotaField({
  value,
  hasDefault,
  onChange,
}: {
  value: QuotaEntry
  hasDefault: boolean
  onChange: (value: QuotaEntry) => void
}) {
  const kinds = hasDefault ? (['default', 'none', 'own'] as const) : (['none', 'own'] as const)
  return (
    <div class="two">
      <Select
        label={words('quota')}
        value={value.kind}
        options={kinds.map((kind) => ({ value: kind, label: words(`quota_${kind}`) }))}
        onChange={({ currentTarget }) => onChange({ ...value, kind: currentTarget.value as QuotaEntry['kind'] })}
      />
      {value.kind === 'own' && (
        <TextField
          label={words('gigabytes')}
          value={value.amount}
          required
          inputMode="decimal"
          maxLength={12}
          problem={value.amount !== '' && bytesIn(value) === undefined ? words('no_amount') : undefined}
          onText={(text) => onChange({ ...value, amount: text })}
        />
      )}
    </div>
  )
}
