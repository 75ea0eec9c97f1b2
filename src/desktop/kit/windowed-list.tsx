import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useRef, useState } from 'preact/hooks'

/** Rows drawn beyond the visible ones. */
const SPARE = 8

/**
 * A list of rows of one height of which only the visible ones are drawn: ten thousand scroll like ten. One row has the
 * focus; arrow keys, Home, End and page keys move it, Enter opens it.
 */
export function WindowedList<T>({
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
  /** Key of the selected row. */
  selected?: string | number | undefined
  onSelect?: (item: T) => void
  onOpen?: (item: T) => void
  children: (item: T, index: number) => ComponentChildren
}) {
  const frame = useRef<HTMLDivElement>(null)
  const [view, setView] = useState({ top: 0, height: 800 })
  const at = items.findIndex((item) => keyOf(item) === selected)

  useLayoutEffect(() => {
    const element = frame.current!
    const measure = () => setView({ top: element.scrollTop, height: element.clientHeight })
    const observer = new ResizeObserver(measure)
    observer.observe(element)
    return () => observer.disconnect()
  }, [])

  const first = Math.max(0, Math.floor(view.top / rowHeight) - SPARE)
  const last = Math.min(items.length, Math.ceil((view.top + view.height) / rowHeight) + SPARE)

  function moveTo(index: number): void {
    const item = items[Math.max(0, Math.min(items.length - 1, index))]
    if (item === undefined) return
    onSelect?.(item)
    const top = items.indexOf(item) * rowHeight
    const element = frame.current!
    if (top < element.scrollTop) element.scrollTop = top
    else if (top + rowHeight > element.scrollTop + element.clientHeight) {
      element.scrollTop = top + rowHeight - element.clientHeight
    }
  }

  function onKeyDown(event: KeyboardEvent): void {
    const page = Math.max(1, Math.floor(view.height / rowHeight) - 1)
    const to = {
      ArrowDown: at + 1,
      ArrowUp: at - 1,
      PageDown: at + page,
      PageUp: at - page,
      Home: 0,
      End: items.length,
    }[event.key]
    if (to !== undefined) moveTo(to)
    else if (event.key === 'Enter' && at >= 0) onOpen?.(items[at]!)
    else return
    event.preventDefault()
  }

  return (
    <div
      ref={frame}
      class="windowed"
      role="listbox"
      aria-label={label}
      tabIndex={0}
      aria-activedescendant={at >= first && at < last ? `row-${selected}` : undefined}
      onScroll={({ currentTarget }) => setView({ top: currentTarget.scrollTop, height: currentTarget.clientHeight })}
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
