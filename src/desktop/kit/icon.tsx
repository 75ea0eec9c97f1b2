import type { IconNode } from 'lucide'
import { h } from 'preact'

/** A picture of the icon set, as large as the text around it; it says nothing to screen readers, the button around it does. */
export const Icon = ({ of, size = 18 }: { of: IconNode; size?: number }) => (
  <svg class="icon" viewBox="0 0 24 24" width={size} height={size} aria-hidden="true">
    {of.map(([tag, attributes]) => h(tag, attributes))}
  </svg>
)
