import type { ComponentChildren } from 'preact'

/** Two parts side by side; where there is no room for both, `shows` says which is there. */
export const SplitView = ({
  side,
  main,
  shows,
  label,
}: {
  side: ComponentChildren
  main: ComponentChildren
  shows: 'side' | 'main'
  /** What the side is, for screen readers. */
  label: string
}) => (
  <main class={`split shows-${shows}`}>
    <nav class="split-side" aria-label={label}>
      {side}
    </nav>
    <div class="split-main">{main}</div>
  </main>
)

/** A row of controls. */
export const Toolbar = ({ label, children }: { label: string; children: ComponentChildren }) => (
  <div class="toolbar" role="toolbar" aria-label={label}>
    {children}
  </div>
)
