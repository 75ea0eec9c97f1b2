import type { ComponentChildren } from 'preact'

/** A line above everything that says what is the matter. */
export const Banner = ({ children, tone = 'warn' }: { children: ComponentChildren; tone?: 'warn' | 'bad' }) => (
  <div class={`banner ${tone}`} role="status">
    {children}
  </div>
)
