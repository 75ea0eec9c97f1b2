import { batch } from '@preact/signals'
import { makeBackoff } from '../../base/retry.ts'

/** Delays before a failed load is repeated, ms. */
const RETRY = { first: 2_000, longest: 60_000, jitter: 0.5 }

interface Options<S, C> {
  request: () => Promise<S>
  /** Replaces all rows. */
  onSnapshot: (snapshot: S) => void
  onChanges: (changes: readonly C[]) => void
  onError?: (error: unknown) => void
}

/**
 * Keeps rows up to date with a snapshot and the changes of the feed. Changes that arrive while the snapshot is loading are
 * applied at once, and those that it lacks once more after it. A failed load is repeated.
 */
export function followSnapshot<S extends { cursor: number }, C extends { cursor: number }>(options: Options<S, C>) {
  const { request, onSnapshot, onChanges, onError } = options
  /** Changes since the snapshot was requested; undefined while none is loading. */
  let arrived: C[] | undefined
  let snapshotCursor = 0
  let lastLoad = 0
  let timer: ReturnType<typeof setTimeout> | undefined
  const backoff = makeBackoff(RETRY)

  function receive(changes: readonly C[]): void {
    arrived?.push(...changes)
    const newer = changes.filter(({ cursor }) => cursor > snapshotCursor)
    if (newer.length > 0) onChanges(newer)
  }

  function take(snapshot: S): void {
    const later = arrived ?? []
    arrived = undefined
    snapshotCursor = snapshot.cursor
    batch(() => {
      onSnapshot(snapshot)
      receive(later)
    })
  }

  async function load(): Promise<void> {
    const own = ++lastLoad
    clearTimeout(timer)
    arrived ??= []
    try {
      const snapshot = await request()
      if (own !== lastLoad) return
      backoff.reset()
      take(snapshot)
    } catch (error) {
      if (own !== lastLoad) return
      onError?.(error)
      const seconds = (error as { retryAfter?: number }).retryAfter ?? 0
      timer = setTimeout(() => void load(), backoff.next(seconds * 1_000))
    }
  }

  return {
    load,
    receive,
    /** Loads again when changes may be missing. Cursors may start over. */
    reset(): void {
      arrived = undefined
      void load()
    },
    stop(): void {
      lastLoad++
      clearTimeout(timer)
    },
  }
}
