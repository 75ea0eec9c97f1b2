import { toastError } from '../../kit/toast.tsx'
import { readDropped } from './dropped-files.ts'
import { pathOf, type Item } from './folder.ts'
import { transfer } from './operations.ts'
import { takesFiles } from './paths.ts'
import { isSelected, selectOnly, selected } from './selection.ts'
import { enqueue } from './uploads.ts'

/** Paths dragged within the app; files from other programs are handled separately. */
let dragged: readonly string[] | undefined

export function startDrag(event: DragEvent, item: Item): void {
  if (!isSelected(item.name)) selectOnly(item.name)
  dragged = selected.value.map(pathOf)
  event.dataTransfer?.setData('text/plain', dragged.join('\n'))
  if (event.dataTransfer) event.dataTransfer.effectAllowed = 'copyMove'
}

addEventListener('dragend', () => void (dragged = undefined))

const isFiles = ({ dataTransfer }: DragEvent): boolean => dataTransfer?.types.includes('Files') ?? false

/** Props of an element that moves dropped items to a folder. */
export function dropTarget(folder: string, setOver: (isOver: boolean) => void) {
  const accepts = (event: DragEvent): boolean => (isFiles(event) ? takesFiles(folder) : dragged !== undefined)
  return {
    onDragOver(event: DragEvent) {
      if (!accepts(event)) return
      event.preventDefault()
      event.stopPropagation()
      if (event.dataTransfer) event.dataTransfer.dropEffect = isFiles(event) || event.ctrlKey ? 'copy' : 'move'
      setOver(true)
    },
    onDragLeave(event: DragEvent & { currentTarget: EventTarget }) {
      const to = event.relatedTarget
      if (!(to instanceof Node && (event.currentTarget as Node).contains(to))) setOver(false)
    },
    onDrop(event: DragEvent) {
      setOver(false)
      if (!accepts(event)) return
      event.preventDefault()
      event.stopPropagation()
      if (isFiles(event) && event.dataTransfer) {
        readDropped(event.dataTransfer).then((all) => enqueue(folder, all), toastError)
      } else if (dragged) void transfer(event.ctrlKey ? 'copy' : 'move', dragged, folder)
    },
  }
}
