import { useState } from 'preact/hooks'

/** Lets files be dropped on an element that is given `on`; `isOver` while some are held above it. */
export function useFileDrop(take: (files: File[]) => void) {
  const [isOver, setOver] = useState(false)
  const on = {
    onDragOver: (event: DragEvent): void => {
      if (!event.dataTransfer?.types.includes('Files')) return
      event.preventDefault()
      setOver(true)
    },
    onDragLeave: (): void => setOver(false),
    onDrop: (event: DragEvent): void => {
      setOver(false)
      if (!event.dataTransfer?.files.length) return
      event.preventDefault()
      take([...event.dataTransfer.files])
    },
  }
  return { isOver, on }
}
