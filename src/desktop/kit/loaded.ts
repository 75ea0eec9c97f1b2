import { useEffect, useState } from 'preact/hooks'

/** Something that is asked of the server once, and again when `reload` is called; what was there stays until then. */
export function useLoaded<T>(ask: () => Promise<T>) {
  const [value, setValue] = useState<T | undefined>(undefined)
  const [trouble, setTrouble] = useState<unknown>(undefined)
  const reload = async (): Promise<void> => {
    try {
      setValue(await ask())
      setTrouble(undefined)
    } catch (error) {
      setTrouble(error)
    }
  }
  useEffect(() => void reload(), [])
  return { value, trouble, reload }
}

/** Runs something once at a time, and keeps what went wrong. */
export function useTask(run: () => Promise<void>) {
  const [busy, setBusy] = useState(false)
  const [trouble, setTrouble] = useState<unknown>(undefined)
  const start = (event?: Event): void => {
    event?.preventDefault()
    if (busy) return
    setBusy(true)
    setTrouble(undefined)
    run()
      .catch((error: unknown) => setTrouble(error))
      .finally(() => setBusy(false))
  }
  return { busy, trouble, start, setTrouble }
}
