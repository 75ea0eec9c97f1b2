import { toastTrouble } from '../../kit/toast.tsx'
import { dropped } from './dropped.ts'
import { pathOf, type Item } from './folder.ts'
import { transfer } from './operations.ts'
import { takesFiles } from './paths.ts'
import { isSelected, only, selected } from './selection.ts'
import { enqueue } from './uploads.ts'

/** Paths that are dragged within the app; what comes from outside is files. */
let dragged: readonly string[] | undefined

/** Begins to drag an item, with everything that is selected with it. */
export function dragOut(event: DragEvent, item: Item): void {
  if (!isSelected(item.name)) only(item.name)
  dragged = selected.value.map(pathOf)
  event.dataTransfer?.setData('text/plain', dragged.join('\n'))
  if (event.dataTransfer) event.dataTransfer.effectAllowed = 'copyMove'
}

addEventListener('dragend', () => void (dragged = undefined))

const isFiles = ({ dataTransfer }: DragEvent): boolean => dataTransfer?.types.includes('Files') ?? false

/** What makes an element take what is dragged onto it into a folder. */
export function dropInto(folder: string, setOver: (isOver: boolean) => void) {
  const takes = (event: DragEvent): boolean => (isFiles(event) ? takesFiles(folder) : dragged !== undefined)
  return {
    onDragOver(event: DragEvent) {
      if (!takes(event)) return
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
      if (!takes(event)) return
      event.preventDefault()
      event.stopPropagation()
      if (isFiles(event) && event.dataTransfer) {
        dropped(event.dataTransfer).then((all) => enqueue(folder, all), toastTrouble)
      } else if (dragged) void transfer(event.ctrlKey ? 'copy' : 'move', dragged, folder)
    },
  }
}
