import { signal } from '@preact/signals'
import { plainText } from './plain-text.ts'

// What a screen reader says while an answer is made: each paragraph once it is whole. The answer itself is drawn anew too often for that.

const said = signal<readonly { id: number; text: string }[]>([])
const MOST = 40
let lastId = 0
let answer = { key: -1, told: 0 }

export function announceText(text: string): void {
  if (text !== '') said.value = [...said.value, { id: ++lastId, text }].slice(-MOST)
}

/** Tells what is new and whole of an answer. */
export function announceAnswer(key: number, text: string, isOver: boolean): void {
  if (answer.key !== key) answer = { key, told: 0 }
  const end = isOver ? text.length : text.lastIndexOf('\n\n')
  if (end <= answer.told) return
  for (const paragraph of text.slice(answer.told, end).split(/\n{2,}/)) announceText(plainText(paragraph))
  answer.told = end
}

export const hush = (): void => void (said.value = [])

export const Announcer = () => (
  <div class="unseen" aria-live="polite" aria-relevant="additions">
    {said.value.map(({ id, text }) => (
      <p key={id}>{text}</p>
    ))}
  </div>
)
