import { signal, useSignalEffect } from '@preact/signals'
import { useEffect, useRef, useState } from 'preact/hooks'
import { bridge } from '../../kit/bridge.ts'

const asked = signal(0)

/** Has every page ask the server again. */
export const askAgain = (): void => void asked.value++

/**
 * What the server says: asked again when `key` changes, when somebody wants it, when the server is back, and with `every`
 * (milliseconds) as long as the page is looked at. What was there stays until the next answer.
 */
export function useShown<T>(
  ask: () => Promise<T>,
  { key = '', every }: { key?: string; every?: number | undefined } = {},
) {
  const [value, setValue] = useState<T | undefined>(undefined)
  const [trouble, setTrouble] = useState<unknown>(undefined)
  const [busy, setBusy] = useState(false)
  const turn = useRef(0)
  const latest = useRef(ask)
  latest.current = ask

  const reload = useRef(async (): Promise<void> => {
    const mine = ++turn.current
    setBusy(true)
    try {
      const answer = await latest.current()
      if (mine !== turn.current) return
      setValue(answer)
      setTrouble(undefined)
    } catch (error) {
      if (mine === turn.current) setTrouble(error)
    } finally {
      if (mine === turn.current) setBusy(false)
    }
  }).current

  useEffect(() => void reload(), [key])
  useSignalEffect(() => {
    // Also when the server is back.
    if (bridge.online.value && asked.value > 0) void reload()
  })
  useEffect(() => {
    if (every === undefined) return
    const timer = setInterval(() => !document.hidden && bridge.online.value && void reload(), every)
    return () => clearInterval(timer)
  }, [every])
  useEffect(() => () => void turn.current++, [])
  return { value, trouble, busy, reload }
}
