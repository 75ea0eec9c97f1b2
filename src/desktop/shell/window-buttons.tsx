import { Columns2, Copy, Minus, MoreVertical, Move, RotateCw, Scaling, Square, X } from 'lucide'
import { IconButton } from '../kit/button.tsx'
import { Icon } from '../kit/icon.tsx'
import { Menu } from '../kit/menu.tsx'
import { confirmAndClose } from './unsaved-guard.ts'
import { updateWindow, isPhone, minimise, place, type AppWindow } from './windows.ts'
import { words } from './words.ts'

/** The buttons of a window; fewer on phones, where it fills the screen. */
export function WindowButtons({
  window: one,
  onKeys,
}: {
  window: AppWindow
  onKeys?: (mode: 'move' | 'resize') => void
}) {
  const { id } = one
  const isFull = one.place === 'full'
  return (
    <>
      <Menu
        label={words('window_menu')}
        items={[
          { label: words('reload'), icon: RotateCw, onSelect: () => updateWindow(id, { reloads: one.reloads + 1 }) },
          ...(onKeys
            ? [
                { label: words('left_half'), icon: Columns2, onSelect: () => place(id, 'left') },
                { label: words('right_half'), icon: Columns2, onSelect: () => place(id, 'right') },
                { label: words('move'), icon: Move, onSelect: () => onKeys('move') },
                { label: words('resize'), icon: Scaling, onSelect: () => onKeys('resize') },
              ]
            : []),
        ]}
      >
        <Icon of={MoreVertical} size={16} />
      </Menu>
      <IconButton icon={Minus} size={16} label={words('minimise')} onClick={() => minimise(id)} />
      {!isPhone.value && (
        <IconButton
          icon={isFull ? Copy : Square}
          size={14}
          label={words(isFull ? 'restore' : 'maximise')}
          onClick={() => place(id, isFull ? 'free' : 'full')}
        />
      )}
      <IconButton
        icon={X}
        size={16}
        class="window-close"
        label={words('close')}
        onClick={() => void confirmAndClose(id)}
      />
    </>
  )
}
