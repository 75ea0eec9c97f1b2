import { signal, useSignalEffect } from '@preact/signals'
import { useEffect, useRef, useState } from 'preact/hooks'
import { bridge } from '../../kit/bridge.ts'

const refreshes = signal(0)

/** Reloads all live queries. */
export const refreshAll = (): void => void refreshes.value++

/**
 * Fetches on mount, when `key` changes, on `refreshAll`, when the server is reachable again, and every `interval` ms
 * while the page is visible. The last value stays visible while reloading.
 */
export function useLiveQuery<T>(
  fetch: () => Promise<T>,
  { key = '', interval }: { key?: string; interval?: number | undefined } = {},
) {
  const [value, setValue] = useState<T | undefined>(undefined)
  const [error, setError] = useState<unknown>(undefined)
  const [busy, setBusy] = useState(false)
  const lastFetch = useRef(0)
  const latest = useRef(fetch)
  latest.current = fetch

  const reload = useRef(async (): Promise<void> => {
    const current = ++lastFetch.current
    setBusy(true)
    try {
      const answer = await latest.current()
      if (current !== lastFetch.current) return
      setValue(answer)
      setError(undefined)
    } catch (reason) {
      if (current === lastFetch.current) setError(reason)
    } finally {
      if (current === lastFetch.current) setBusy(false)
    }
  }).current

  useEffect(() => void reload(), [key])
  useSignalEffect(() => {
    // Also runs when the server is reachable again.
    if (bridge.online.value && refreshes.value > 0) void reload()
  })
  useEffect(() => {
    if (interval === undefined) return
    const timer = setInterval(() => !document.hidden && bridge.online.value && void reload(), interval)
    return () => clearInterval(timer)
  }, [interval])
  useEffect(() => () => void lastFetch.current++, [])
  return { value, error, busy, reload }
}
