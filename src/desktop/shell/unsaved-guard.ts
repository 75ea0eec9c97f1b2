import { confirm } from '../kit/dialog.tsx'
import { updateWindow, closeWindow, windows } from './windows.ts'
import { words } from './words.ts'

export async function confirmAndClose(id: number): Promise<void> {
  const target = windows.value.find((window) => window.id === id)
  if (!target) return
  if (target.unsaved) {
    const isConfirmed = await confirm({
      title: words('unsaved_title'),
      text: words('unsaved_text'),
      action: words('close_anyway'),
      danger: true,
    })
    if (!isConfirmed) return
    updateWindow(id, { unsaved: false })
  }
  closeWindow(id)
}

addEventListener('beforeunload', (event) => {
  if (windows.value.some(({ unsaved }) => unsaved)) event.preventDefault()
})
