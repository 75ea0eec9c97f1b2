import { useLayoutEffect, useRef } from 'preact/hooks'

/**
 * Calls `onKey` of the last rendering for every key pressed in this frame, from when the component is in the page until
 * it is removed; a component inside another one is asked first.
 *
 * In a layout effect: a passive one runs after the browser has painted, and a key pressed before that would reach what
 * is no longer shown.
 */
export function useKeys(onKey: (event: KeyboardEvent) => void): void {
  const latest = useRef(onKey)
  useLayoutEffect(() => void (latest.current = onKey))
  useLayoutEffect(() => {
    const listener = (event: KeyboardEvent) => latest.current(event)
    addEventListener('keydown', listener)
    return () => removeEventListener('keydown', listener)
  }, [])
}
