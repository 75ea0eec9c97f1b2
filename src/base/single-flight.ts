/** Runs `operation` once at a time for each key; concurrent callers share its result. */
export function makeSingleFlight<Key, T>(operation: (key: Key) => Promise<T>) {
  const underWay = new Map<Key, Promise<T>>()
  return {
    run(key: Key): Promise<T> {
      let result = underWay.get(key)
      if (!result) {
        result = operation(key).finally(() => underWay.delete(key))
        underWay.set(key, result)
      }
      return result
    },
    underWay: (key: Key): Promise<T> | undefined => underWay.get(key),
  }
}
