import { useMemo } from 'preact/hooks'
import { lineDiff } from './line-diff.ts'
import { words } from './words.ts'

/** A line diff of two texts with some context. */
export function DiffView({ label, before, after }: { label: string; before: string; after: string }) {
  const lines = useMemo(() => lineDiff(before, after), [before, after])
  if (lines.length === 0) return <p class="soft">{words('same')}</p>
  return (
    <pre class="difference" tabIndex={0} role="region" aria-label={label}>
      {lines.map(({ kind, text, count }, at) => (
        <div key={at} class={kind}>
          {(kind === 'added' || kind === 'removed') && <span class="unseen">{words(kind)}</span>}
          {kind === 'skipped' ? `⋯ ${words('skipped', count ?? 0)}` : text || ' '}
        </div>
      ))}
    </pre>
  )
}
