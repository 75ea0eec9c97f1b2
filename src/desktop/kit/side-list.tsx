import type { IconNode } from 'lucide'
import { Icon } from './icon.tsx'

export interface SideItem {
  key: string
  label: string
  icon: IconNode
  count?: number
}

/** A list of choices in the sidebar. */
export const SideList = ({
  items,
  selected,
  onSelect,
}: {
  items: readonly SideItem[]
  selected: string
  onSelect: (key: string) => void
}) => (
  <ul class="side-list">
    {items.map(({ key, label, icon, count }) => (
      <li key={key}>
        <button type="button" aria-current={key === selected ? 'true' : undefined} onClick={() => onSelect(key)}>
          <Icon of={icon} />
          <span>{label}</span>
          {count !== undefined && count > 0 && <small>{count}</small>}
        </button>
      </li>
    ))}
  </ul>
)
