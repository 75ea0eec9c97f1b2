import type { ComponentChildren } from 'preact'

/** Sidebar and content side by side; on narrow screens only the part that `shows` selects. */
export const SplitView = ({
  side,
  main,
  shows,
  label,
}: {
  side: ComponentChildren
  main: ComponentChildren
  shows: 'side' | 'main'
  /** Accessible name of the sidebar. */
  label: string
}) => (
  <main class={`split shows-${shows}`}>
    <nav class="split-side" aria-label={label}>
      {side}
    </nav>
    <div class="split-main">{main}</div>
  </main>
)

export const Toolbar = ({ label, children }: { label: string; children: ComponentChildren }) => (
  <div class="toolbar" role="toolbar" aria-label={label}>
    {children}
  </div>
)
