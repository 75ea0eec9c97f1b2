import { useState } from 'preact/hooks'

/** Makes an element with the props `on` accept dropped files; `isOver` while files are dragged over it. */
export function useFileDrop(onFiles: (files: File[]) => void) {
  const [isOver, setOver] = useState(false)
  const handlers = {
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
      onFiles([...event.dataTransfer.files])
    },
  }
  return { isOver, handlers }
}
