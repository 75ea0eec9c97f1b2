import { confirm } from '../kit/dialog.tsx'
import { change, close, windows } from './windows.ts'
import { words } from './words.ts'

/** Closes a window; where something in it is not stored yet, only after asking. */
export async function closeAsking(id: number): Promise<void> {
  const one = windows.value.find((window) => window.id === id)
  if (!one) return
  if (one.unsaved) {
    const isSure = await confirm({
      title: words('unsaved_title'),
      text: words('unsaved_text'),
      action: words('close_anyway'),
      danger: true,
    })
    if (!isSure) return
    change(id, { unsaved: false })
  }
  close(id)
}

addEventListener('beforeunload', (event) => {
  if (windows.value.some(({ unsaved }) => unsaved)) event.preventDefault()
})
