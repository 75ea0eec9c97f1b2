import { signal } from '@preact/signals'
import { X } from 'lucide'
import { Button, IconButton } from './button.tsx'
import { describeError } from './api-error.ts'
import { common } from './words.ts'

interface Toast {
  id: number
  text: string
  /** The app that shows it; undefined for the page itself. */
  source: string | undefined
  tone: 'good' | 'bad'
  action: { label: string; run: () => void } | undefined
}

const DURATION_MS = 6_000
const MAX_TOASTS = 4

const toasts = signal<readonly Toast[]>([])
let lastId = 0

const dismiss = (id: number): void => {
  toasts.value = toasts.value.filter((toast) => toast.id !== id)
}

/** Shows a short message, optionally with an action such as Undo. */
export function toast(text: string, options: Partial<Pick<Toast, 'tone' | 'action' | 'source'>> = {}): void {
  const id = ++lastId
  const { tone = 'good', action, source } = options
  const others = toasts.value.filter((one) => one.text !== text || one.source !== source)
  toasts.value = [...others, { id, text, source, tone, action }].slice(-MAX_TOASTS)
  setTimeout(() => dismiss(id), action || tone === 'bad' ? 2 * DURATION_MS : DURATION_MS)
}

export const toastError = (error: unknown): void => toast(describeError(error), { tone: 'bad' })

/** Renders toasts; once per page. */
export const Toasts = () => (
  <div class="toasts" role="status" aria-live="polite">
    {toasts.value.map(({ id, text, source, tone, action }) => (
      <div key={id} class={`toast ${tone}`}>
        {source === undefined ? (
          <span>{text}</span>
        ) : (
          <span class="toast-sourced">
            <bdi class="source">{source}</bdi>
            <bdi class="toast-text">{text}</bdi>
          </span>
        )}
        {action && (
          <Button
            kind="quiet"
            onClick={() => {
              dismiss(id)
              action.run()
            }}
          >
            {action.label}
          </Button>
        )}
        <IconButton icon={X} label={common('dismiss')} size={16} onClick={() => dismiss(id)} />
      </div>
    ))}
  </div>
)
