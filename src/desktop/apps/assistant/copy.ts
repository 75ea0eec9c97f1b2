import { toast } from '../../kit/toast.tsx'
import { words } from './words.ts'

/** Puts a text on the clipboard, in the one way that works in a frame and without encryption: copying what is selected. */
export function copy(text: string): void {
  const before = document.activeElement
  const place = document.createElement('textarea')
  place.value = text
  place.className = 'unseen'
  document.body.append(place)
  place.select()
  const isCopied = document.execCommand('copy')
  place.remove()
  if (before instanceof HTMLElement) before.focus()
  toast(words(isCopied ? 'copied' : 'not_copied'), { tone: isCopied ? 'good' : 'bad' })
}
