import type { ComponentChildren } from 'preact'
import { useBackLevels } from './back-levels.ts'

/** Sidebar and content side by side; on narrow screens only the part that `shows` selects. */
export function SplitView({
  side,
  main,
  shows,
  label,
  back,
}: {
  side: ComponentChildren
  main: ComponentChildren
  shows: 'side' | 'main'
  /** Accessible name of the sidebar. */
  label: string
  /** Returns to the first view of the app; not given while it is shown. */
  back: (() => void) | false | undefined
}) {
  useBackLevels(back ? 1 : 0, back || (() => undefined))
  return (
    <main class={`split shows-${shows}`}>
      <nav class="split-side" aria-label={label}>
        {side}
      </nav>
      <div class="split-main">{main}</div>
    </main>
  )
}

export const Toolbar = ({ label, children }: { label: string; children: ComponentChildren }) => (
  <div class="toolbar" role="toolbar" aria-label={label}>
    {children}
  </div>
)
