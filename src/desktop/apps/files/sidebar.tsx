import { signal } from '@preact/signals'
import { HardDrive, Image, Menu as Lines, Trash2, Users } from 'lucide'
import type { IconNode } from 'lucide'
import { useState } from 'preact/hooks'
import { IconButton } from '../../kit/button.tsx'
import { formatSize } from '../../kit/formats.ts'
import { Icon } from '../../kit/icon.tsx'
import { dropTarget } from './item-drag.ts'
import { folder, openFolder, place, usage } from './folder.ts'
import { openFile } from './open-file.ts'
import { isWithin, ROOMS } from './paths.ts'
import { words } from './words.ts'

/** On narrow screens: whether the sidebar is shown. */
export const isSidebarShown = signal(false)

/** Opens the sidebar; visible on narrow screens only. */
export const SidebarButton = () => (
  <IconButton
    icon={Lines}
    class="only-narrow"
    label={words('places')}
    onClick={() => void (isSidebarShown.value = true)}
  />
)

function Location({
  icon,
  label,
  isCurrent,
  path,
  onClick,
}: {
  icon: IconNode
  label: string
  isCurrent: boolean
  path?: string
  onClick: () => void
}) {
  const [isOver, setOver] = useState(false)
  return (
    <button
      type="button"
      class={`place ${isOver ? 'over' : ''}`}
      aria-current={isCurrent ? 'page' : undefined}
      onClick={() => {
        isSidebarShown.value = false
        openFile.value = undefined
        onClick()
      }}
      {...(path ? dropTarget(path, setOver) : {})}
    >
      <Icon of={icon} />
      <span>{label}</span>
    </button>
  )
}

/** Storage usage, also as text. */
function Quota() {
  const known = usage.value
  if (!known) return null
  const { used, total, percent } = known
  return (
    <div class={`quota ${total > 0 && percent >= 90 ? 'nearly-full' : ''}`}>
      {total > 0 && <meter aria-label={words('storage')} min={0} max={total} high={total * 0.9} value={used} />}
      <p>{total > 0 ? words('used_of', formatSize(used), formatSize(total)) : words('used', formatSize(used))}</p>
      {total > 0 && percent >= 100 && <p class="problem">{words('full')}</p>}
    </div>
  )
}

/** Places and storage usage. */
export function Sidebar() {
  const isFolder = place.value === 'folder'
  const isRoom = isWithin(folder.value, ROOMS)
  return (
    <>
      <div class="places">
        <Location
          icon={HardDrive}
          label={words('my_files')}
          path="/"
          isCurrent={isFolder && !isRoom}
          onClick={() => openFolder('/')}
        />
        <Location
          icon={Users}
          label={words('rooms')}
          isCurrent={isFolder && isRoom}
          onClick={() => openFolder(ROOMS)}
        />
        <Location
          icon={Image}
          label={words('photos')}
          isCurrent={place.value === 'photos'}
          onClick={() => void (place.value = 'photos')}
        />
        <Location
          icon={Trash2}
          label={words('trash')}
          isCurrent={place.value === 'trash'}
          onClick={() => void (place.value = 'trash')}
        />
      </div>
      <Quota />
    </>
  )
}
