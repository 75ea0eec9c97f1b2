import { computed, signal } from '@preact/signals'
import { useLayoutEffect, useRef } from 'preact/hooks'

interface Level {
  count: number
  back: () => void
}

/** Innermost last. */
const levels = signal<readonly Level[]>([])

/** Number of views of this page that the Back button of a phone leaves one by one. */
export const backLevels = computed(() => levels.value.reduce((sum, { count }) => sum + count, 0))

export const goBack = (): void => levels.peek().at(-1)?.back()

/** Counts `count` nested views; each call of `back` leaves one. */
export function useBackLevels(count: number, back: () => void): void {
  const latest = useRef(back)
  latest.current = back
  useLayoutEffect(() => {
    if (count === 0) return
    const level = { count, back: () => latest.current() }
    levels.value = [...levels.peek(), level]
    return () => void (levels.value = levels.peek().filter((other) => other !== level))
  }, [count])
}
