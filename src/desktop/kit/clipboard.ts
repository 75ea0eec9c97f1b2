import { toast } from './toast.tsx'
import { common } from './words.ts'

/** Copies a text and shows the result. Without HTTPS, browsers have no clipboard API. */
export async function copy(text: string): Promise<void> {
  const isCopied = await (navigator.clipboard as Clipboard | undefined)?.writeText(text).then(
    () => true,
    () => false,
  )
  if (isCopied || copyBySelection(text)) toast(common('copied'), { tone: 'good' })
  else toast(common('not_copied'), { tone: 'bad' })
}

/** Works in frames and without HTTPS. */
function copyBySelection(text: string): boolean {
  const focused = document.activeElement
  const textarea = document.createElement('textarea')
  textarea.value = text
  textarea.className = 'unseen'
  document.body.append(textarea)
  textarea.select()
  const isCopied = document.execCommand('copy')
  textarea.remove()
  if (focused instanceof HTMLElement) focused.focus()
  return isCopied
}
