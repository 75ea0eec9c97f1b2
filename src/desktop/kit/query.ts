import { useEffect, useState } from 'preact/hooks'

/** Fetches on mount and on `reload`; the last value stays visible while reloading. */
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

/** Runs one request at a time and keeps its error. */
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
