import { signal } from '@preact/signals'
import { spokenText } from './spoken-text.ts'

// Announces an answer to screen readers paragraph by paragraph: the answer itself is rendered too often.

const announcements = signal<readonly { id: number; text: string }[]>([])
const MAX_ANNOUNCEMENTS = 40
let lastId = 0
let answer = { key: -1, announced: 0 }

export function announceText(text: string): void {
  if (text !== '') announcements.value = [...announcements.value, { id: ++lastId, text }].slice(-MAX_ANNOUNCEMENTS)
}

/** Announces the new complete paragraphs of an answer. */
export function announceAnswer(key: number, text: string, isOver: boolean): void {
  if (answer.key !== key) answer = { key, announced: 0 }
  const end = isOver ? text.length : text.lastIndexOf('\n\n')
  if (end <= answer.announced) return
  for (const paragraph of text.slice(answer.announced, end).split(/\n{2,}/)) announceText(spokenText(paragraph))
  answer.announced = end
}

export const clearAnnouncements = (): void => void (announcements.value = [])

export const Announcer = () => (
  <div class="unseen" aria-live="polite" aria-relevant="additions">
    {announcements.value.map(({ id, text }) => (
      <p key={id}>{text}</p>
    ))}
  </div>
)
