import type { ComponentChildren } from 'preact'
import type { TableName } from '../../contract/tables.ts'
import type { Entries, Entry } from './entries.ts'
import { VirtualList } from './virtual-list.tsx'

/** A list of entries; selecting one opens it. */
export const EntryList = <N extends TableName>({
  of,
  items,
  rowHeight,
  label,
  children,
}: {
  of: Entries<N>
  items: readonly Entry<N>[]
  /** Pixels. */
  rowHeight: number
  label: string
  children: (entry: Entry<N>) => ComponentChildren
}) => (
  <VirtualList
    items={items}
    rowHeight={rowHeight}
    keyOf={(entry) => entry.key}
    label={label}
    selected={of.current.value?.key}
    onSelect={(entry) => void (of.open.value = entry.key)}
  >
    {children}
  </VirtualList>
)
