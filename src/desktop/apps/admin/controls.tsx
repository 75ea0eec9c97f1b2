import { ChevronLeft, ChevronRight } from 'lucide'
import type { ComponentChildren } from 'preact'
import { IconButton } from '../../kit/button.tsx'
import { formatNumber, formatSize } from '../../kit/formats.ts'
import { Loading } from '../../kit/empty-state.tsx'
import { describeError } from '../../kit/api-error.ts'
import { Problem } from '../../kit/field.tsx'
import { words } from './words.ts'

export const DescriptionList = ({ of }: { of: readonly (readonly [name: string, value: ComponentChildren])[] }) => (
  <dl class="facts">
    {of.map(([name, value]) => (
      <div key={name}>
        <dt>{name}</dt>
        <dd>{value}</dd>
      </div>
    ))}
  </dl>
)

export function QueryResult<T>({
  of: { value, error },
  children,
}: {
  of: { value: T | undefined; error: unknown }
  children: (value: T) => ComponentChildren
}) {
  return (
    <>
      {error !== undefined && <Problem>{describeError(error)}</Problem>}
      {value === undefined ? error === undefined && <Loading /> : children(value)}
    </>
  )
}

export const Badge = ({ tone, children }: { tone: 'good' | 'bad' | 'warn' | 'plain'; children: ComponentChildren }) => (
  <span class={`badge ${tone}`}>{children}</span>
)

const tones = { active: 'good', disabled: 'plain', importing: 'warn', locked: 'bad', removing: 'warn' } as const

/** The state of an account. */
export const StateBadge = ({ state }: { state: keyof typeof tones }) => (
  <Badge tone={tones[state]}>{words(`state_${state}`)}</Badge>
)

export function QuotaUsage({ used, quota, isDefault }: { used: number; quota: number | null; isDefault: boolean }) {
  if (quota === null) return <>{words('used_unlimited', formatSize(used))}</>
  return (
    <>
      {words('used_of', formatSize(used), formatSize(quota))}
      {isDefault && <small> {words('by_default')}</small>}
    </>
  )
}

/** Buttons for the previous and next page of a list. */
export function Pager({
  offset,
  size,
  total,
  onMove,
}: {
  offset: number
  size: number
  total: number
  onMove: (offset: number) => void
}) {
  if (total <= size && offset === 0) return null
  const last = Math.min(total, offset + size)
  return (
    <nav class="pager" aria-label={words('pages')}>
      <IconButton
        icon={ChevronLeft}
        label={words('previous')}
        disabled={offset === 0}
        onClick={() => onMove(Math.max(0, offset - size))}
      />
      <span role="status">
        {words('some_of', formatNumber(Math.min(offset + 1, last)), formatNumber(last), formatNumber(total))}
      </span>
      <IconButton
        icon={ChevronRight}
        label={words('next')}
        disabled={last >= total}
        onClick={() => onMove(offset + size)}
      />
    </nav>
  )
}

/** A table that scrolls horizontally if it is too wide. */
export const Table = ({
  label,
  head,
  children,
}: {
  label: string
  head: readonly { title: string; wide?: boolean; end?: boolean }[]
  children: ComponentChildren
}) => (
  <div class="table-around" role="group" aria-label={label} tabIndex={0}>
    <table>
      <thead>
        <tr>
          {head.map(({ title, wide, end }) => (
            <th key={title} scope="col" class={[wide && 'only-wide', end && 'end'].filter(Boolean).join(' ')}>
              {title}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>{children}</tbody>
    </table>
  </div>
)
