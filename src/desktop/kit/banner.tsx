import type { ComponentChildren } from 'preact'

/** A notice across the top. */
export const Banner = ({ children, tone = 'warn' }: { children: ComponentChildren; tone?: 'warn' | 'bad' }) => (
  <div class={`banner ${tone}`} role="status">
    {children}
  </div>
)
