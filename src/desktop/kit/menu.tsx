import type { IconNode } from 'lucide'
import type { ComponentChildren } from 'preact'
import { useId, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { Icon } from './icon.tsx'

export interface MenuItem {
  label: string
  icon?: IconNode
  danger?: boolean
  disabled?: boolean
  /** Undefined for items that cannot be checked. */
  checked?: boolean
  onSelect: () => void
}

/** The side of the button with more room for the popup, within all scrolling or clipping ancestors. */
export function sideOf(popup: HTMLElement): 'above' | 'below' {
  const { height } = popup.getBoundingClientRect()
  const { top, bottom } = popup.parentElement!.getBoundingClientRect()
  let [first, last] = [0, innerHeight]
  for (let parent = popup.parentElement; parent; parent = parent.parentElement) {
    if (getComputedStyle(parent).overflowY === 'visible') continue
    const clip = parent.getBoundingClientRect()
    first = Math.max(first, clip.top)
    last = Math.min(last, clip.bottom)
  }
  const fitsBelow = bottom + height + 4 <= last
  return fitsBelow || top - first < last - bottom ? 'below' : 'above'
}

/** Distance of a menu to its button, and to the edges of the page, pixels. */
const GAP = 4

/** Moves a menu to a point, but keeps it inside the page. */
function moveInside(menu: HTMLElement, x: number, y: number): void {
  menu.style.left = `${Math.max(GAP, Math.min(x, innerWidth - menu.offsetWidth - GAP))}px`
  menu.style.top = `${Math.max(GAP, Math.min(y, innerHeight - menu.offsetHeight - GAP))}px`
}

/** Moves a menu to its button, on the side with more room. */
function moveBeside(menu: HTMLElement, button: HTMLElement, align: 'start' | 'end'): void {
  const { left, right, top, bottom } = button.getBoundingClientRect()
  const { offsetWidth: width, offsetHeight: height } = menu
  const isBelow = bottom + GAP + height <= innerHeight || top < innerHeight - bottom
  moveInside(menu, align === 'end' ? right - width : left, isBelow ? bottom + GAP : top - GAP - height)
}

/** A menu button. Supports arrow keys, Home, End, first letters and Escape (ARIA menu pattern). */
export function Menu({
  label,
  items,
  children,
  align = 'end',
  class: className = 'icon-button',
}: {
  label: string
  items: readonly MenuItem[]
  children: ComponentChildren
  align?: 'start' | 'end'
  class?: string
}) {
  const [open, setOpen] = useState(false)
  const id = useId()
  const button = useRef<HTMLButtonElement>(null)
  const list = useRef<HTMLDivElement>(null)
  const close = (refocus = true) => {
    setOpen(false)
    if (refocus) button.current?.focus()
  }

  useLayoutEffect(() => {
    if (!open) return
    // Nothing in the page cuts off a popover.
    list.current?.showPopover()
    const follow = () => moveBeside(list.current!, button.current!, align)
    follow()
    list.current
      ?.querySelector<HTMLElement>('[role^=menuitem]:not([aria-disabled=true])')
      ?.focus({ preventScroll: true })
    const closeOutside = (event: Event) => {
      const target = event.target instanceof Node ? event.target : null
      if (!list.current?.contains(target) && !button.current?.contains(target)) close(false)
    }
    addEventListener('pointerdown', closeOutside)
    addEventListener('blur', closeOutside)
    addEventListener('resize', follow)
    addEventListener('scroll', follow, true)
    return () => {
      removeEventListener('pointerdown', closeOutside)
      removeEventListener('blur', closeOutside)
      removeEventListener('resize', follow)
      removeEventListener('scroll', follow, true)
    }
  }, [open])

  return (
    <div class="menu-around">
      <button
        ref={button}
        type="button"
        class={className}
        aria-label={label}
        title={label}
        aria-haspopup="menu"
        aria-expanded={open}
        aria-controls={id}
        onClick={() => setOpen(!open)}
      >
        {children}
      </button>
      {open && (
        <div
          ref={list}
          id={id}
          class="menu"
          popover="manual"
          role="menu"
          aria-label={label}
          onKeyDown={(event) => onMenuKeyDown(event, close)}
        >
          <MenuItems items={items} close={close} />
        </div>
      )}
    </div>
  )
}

/** `close` is called before the selected action. */
const MenuItems = ({ items, close }: { items: readonly MenuItem[]; close: () => void }) => (
  <>
    {items.map((item) => (
      <button
        key={item.label}
        type="button"
        role={item.checked === undefined ? 'menuitem' : 'menuitemradio'}
        aria-checked={item.checked}
        aria-disabled={item.disabled}
        tabIndex={-1}
        class={item.danger ? 'danger' : ''}
        onClick={() => {
          if (item.disabled) return
          close()
          item.onSelect()
        }}
      >
        {item.icon && <Icon of={item.icon} size={16} />}
        <span>{item.label}</span>
      </button>
    ))}
  </>
)

/** A context menu; the owner unmounts it on `onClose`. */
export function ContextMenu({
  label,
  items,
  at,
  onClose,
}: {
  label: string
  items: readonly MenuItem[]
  /** Pixels from the top left of the page; the menu is kept inside the page. */
  at: { x: number; y: number }
  onClose: () => void
}) {
  const list = useRef<HTMLDivElement>(null)
  useLayoutEffect(() => {
    const element = list.current!
    const focused = document.activeElement
    moveInside(element, at.x, at.y)
    element.querySelector<HTMLElement>('[role^=menuitem]:not([aria-disabled=true])')?.focus()
    const closeOutside = (event: Event) => {
      if (!(event.target instanceof Node && element.contains(event.target))) onClose()
    }
    addEventListener('pointerdown', closeOutside)
    addEventListener('blur', closeOutside)
    return () => {
      removeEventListener('pointerdown', closeOutside)
      removeEventListener('blur', closeOutside)
      if (focused instanceof HTMLElement && document.activeElement === document.body) focused.focus()
    }
  }, [at])
  return (
    <div
      ref={list}
      class="menu at-point"
      role="menu"
      aria-label={label}
      onKeyDown={(event) => onMenuKeyDown(event, onClose)}
    >
      <MenuItems items={items} close={onClose} />
    </div>
  )
}

function onMenuKeyDown(event: KeyboardEvent & { currentTarget: HTMLElement }, close: () => void): void {
  const items = [...event.currentTarget.querySelectorAll<HTMLElement>('[role^=menuitem]')]
  const at = items.indexOf(document.activeElement as HTMLElement)
  const to = {
    ArrowDown: (at + 1) % items.length,
    ArrowUp: (at - 1 + items.length) % items.length,
    Home: 0,
    End: items.length - 1,
  }[event.key]
  const letter = event.key.length === 1 ? event.key.toLowerCase() : undefined
  if (to !== undefined) items[to]?.focus()
  else if (event.key === 'Escape' || event.key === 'Tab') close()
  else if (letter && letter !== ' ') {
    const from = [...items.slice(at + 1), ...items.slice(0, at + 1)]
    from.find((item) => item.textContent.trim().toLowerCase().startsWith(letter))?.focus()
    return
  } else return
  event.preventDefault()
  event.stopPropagation()
}
