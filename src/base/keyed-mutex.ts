/**
 * Runs one operation per key at a time, in order of arrival; different keys run in parallel. `admit` gets the number of
 * waiting operations of the key and refuses by throwing.
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
