import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'

/** Rows rendered beyond the visible ones. */
const OVERSCAN = 8

/**
 * A list that renders only its visible rows, which all have the same height. One row has the focus: arrow keys, Home,
 * End and page keys move it, Enter opens it.
 */
export function VirtualList<T>({
  items,
  rowHeight,
  keyOf,
  label,
  selected,
  onSelect,
  onOpen,
  children,
}: {
  items: readonly T[]
  /** Pixels. */
  rowHeight: number
  keyOf: (item: T) => string | number
  label: string
  selected?: string | number | undefined
  onSelect?: (item: T) => void
  onOpen?: (item: T) => void
  children: (item: T, index: number) => ComponentChildren
}) {
  const container = useRef<HTMLDivElement>(null)
  const [viewport, setViewport] = useState({ top: 0, height: 800 })
  const selectedIndex = useMemo(() => items.findIndex((item) => keyOf(item) === selected), [items, selected])

  useLayoutEffect(() => {
    const element = container.current!
    const measure = () => setViewport({ top: element.scrollTop, height: element.clientHeight })
    const observer = new ResizeObserver(measure)
    observer.observe(element)
    return () => observer.disconnect()
  }, [])

  const first = Math.max(0, Math.floor(viewport.top / rowHeight) - OVERSCAN)
  const last = Math.min(items.length, Math.ceil((viewport.top + viewport.height) / rowHeight) + OVERSCAN)

  function moveTo(index: number): void {
    const item = items[Math.max(0, Math.min(items.length - 1, index))]
    if (item === undefined) return
    onSelect?.(item)
    const top = items.indexOf(item) * rowHeight
    const element = container.current!
    if (top < element.scrollTop) element.scrollTop = top
    else if (top + rowHeight > element.scrollTop + element.clientHeight) {
      element.scrollTop = top + rowHeight - element.clientHeight
    }
  }

  function onKeyDown(event: KeyboardEvent): void {
    const page = Math.max(1, Math.floor(viewport.height / rowHeight) - 1)
    const to = {
      ArrowDown: selectedIndex + 1,
      ArrowUp: selectedIndex - 1,
      PageDown: selectedIndex + page,
      PageUp: selectedIndex - page,
      Home: 0,
      End: items.length,
    }[event.key]
    if (to !== undefined) moveTo(to)
    else if (event.key === 'Enter' && selectedIndex >= 0) onOpen?.(items[selectedIndex]!)
    else return
    event.preventDefault()
  }

  return (
    <div
      ref={container}
      class="windowed"
      role="listbox"
      aria-label={label}
      tabIndex={0}
      aria-activedescendant={selectedIndex >= first && selectedIndex < last ? `row-${selected}` : undefined}
      onScroll={({ currentTarget }) =>
        setViewport({ top: currentTarget.scrollTop, height: currentTarget.clientHeight })
      }
      onKeyDown={onKeyDown}
    >
      <div style={{ height: `${items.length * rowHeight}px`, position: 'relative' }}>
        {items.slice(first, last).map((item, offset) => {
          const key = keyOf(item)
          return (
            <div
              key={key}
              id={`row-${key}`}
              role="option"
              aria-selected={key === selected}
              aria-setsize={items.length}
              aria-posinset={first + offset + 1}
              class="row"
              style={{
                position: 'absolute',
                insetInline: '0',
                top: `${(first + offset) * rowHeight}px`,
                height: `${rowHeight}px`,
              }}
              onClick={() => onSelect?.(item)}
              onDblClick={() => onOpen?.(item)}
            >
              {children(item, first + offset)}
            </div>
          )
        })}
      </div>
    </div>
  )
}
