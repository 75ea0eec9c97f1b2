import { useEffect, useState } from 'preact/hooks'

/** Something that is asked of the server once, and again when `reload` is called; what was there stays until then. */
export function useQuery<T>(fetch: () => Promise<T>) {
  const [value, setValue] = useState<T | undefined>(undefined)
  const [error, setError] = useState<unknown>(undefined)
  const reload = async (): Promise<void> => {
    try {
      setValue(await fetch())
      setError(undefined)
    } catch (error) {
      setError(error)
    }
  }
  useEffect(() => void reload(), [])
  return { value, error, reload }
}

/** Runs something once at a time, and keeps what went wrong. */
export function useMutation(run: () => Promise<void>) {
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState<unknown>(undefined)
  const start = (event?: Event): void => {
    event?.preventDefault()
    if (busy) return
    setBusy(true)
    setError(undefined)
    run()
      .catch((reason: unknown) => setError(reason))
      .finally(() => setBusy(false))
  }
  return { busy, error, start, setError }
}
