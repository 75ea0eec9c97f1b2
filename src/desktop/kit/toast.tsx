import { signal } from '@preact/signals'
import { X } from 'lucide'
import { Button, IconButton } from './button.tsx'
import { explain } from './trouble.ts'
import { common } from './words.ts'

interface Toast {
  id: number
  text: string
  tone: 'good' | 'bad'
  action: { label: string; run: () => void } | undefined
}

const LIFE_MS = 6_000
const MOST = 4

const toasts = signal<readonly Toast[]>([])
let number = 0

const drop = (id: number): void => {
  toasts.value = toasts.value.filter((toast) => toast.id !== id)
}

/** Says briefly, at the edge, that something happened; with an action, what can be done about it (undo it, mostly). */
export function toast(text: string, options: { tone?: 'good' | 'bad'; action?: Toast['action'] } = {}): void {
  const id = ++number
  const { tone = 'good', action } = options
  toasts.value = [...toasts.value.filter((one) => one.text !== text), { id, text, tone, action }].slice(-MOST)
  setTimeout(() => drop(id), action || tone === 'bad' ? 2 * LIFE_MS : LIFE_MS)
}

/** Says what went wrong. */
export const toastTrouble = (error: unknown): void => toast(explain(error), { tone: 'bad' })

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
              drop(id)
              action.run()
            }}
          >
            {action.label}
          </Button>
        )}
        <IconButton icon={X} label={common('dismiss')} size={16} onClick={() => drop(id)} />
      </div>
    ))}
  </div>
)
