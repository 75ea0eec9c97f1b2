import type { IconNode } from 'lucide'
import { h } from 'preact'

/** A decorative icon, hidden from screen readers. */
export const Icon = ({ of, size = 18 }: { of: IconNode; size?: number }) => (
  <svg class="icon" viewBox="0 0 24 24" width={size} height={size} aria-hidden="true">
    {of.map(([tag, attributes]) => h(tag, attributes))}
  </svg>
)
