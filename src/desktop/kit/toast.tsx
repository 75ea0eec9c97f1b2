import { signal } from '@preact/signals'
import { X } from 'lucide'
import { Button, IconButton } from './button.tsx'
import { describeError } from './api-error.ts'
import { common } from './words.ts'

interface Toast {
  id: number
  text: string
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

/** Says briefly, at the edge, that something happened; with an action, what can be done about it (undo it, mostly). */
export function toast(text: string, options: { tone?: 'good' | 'bad'; action?: Toast['action'] } = {}): void {
  const id = ++lastId
  const { tone = 'good', action } = options
  toasts.value = [...toasts.value.filter((one) => one.text !== text), { id, text, tone, action }].slice(-MAX_TOASTS)
  setTimeout(() => dismiss(id), action || tone === 'bad' ? 2 * DURATION_MS : DURATION_MS)
}

/** Says what went wrong. */
export const toastError = (error: unknown): void => toast(describeError(error), { tone: 'bad' })

/** Where toasts appear; once per page. */
export const Toasts = () => (
  <div class="toasts" role="status" aria-live="polite">
    {toasts.value.map(({ id, text, tone, action }) => (
      <div key={id} class={`toast ${tone}`}>
        <span>{text}</span>
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
