/**
 * Runs one operation of a key at a time, in the order of arrival; those of different keys run side by side. `admit` hears how
 * many of the key are ahead, and refuses by throwing.
 */
export function makeKeyedMutex<Key>(admit: (ahead: number) => void = () => undefined) {
  const keys = new Map<Key, { tail: Promise<unknown>; count: number }>()
  return async <T>(key: Key, operation: () => Promise<T>): Promise<T> => {
    const queue = keys.get(key) ?? { tail: Promise.resolve(), count: 0 }
    admit(queue.count)
    keys.set(key, queue)
    queue.count += 1
    const done = queue.tail.then(operation)
    queue.tail = done.catch(() => undefined)
    try {
      return await done
    } finally {
      queue.count -= 1
      if (queue.count === 0) keys.delete(key)
    }
  }
}
