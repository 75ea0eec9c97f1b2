// Browsers may refuse storage; then window positions and drafts are not kept.

/** A stored value; `fallback` if there is none. */
export function readItem<T>(key: string, fallback: T): T {
  try {
    const text = localStorage.getItem(key)
    return text === null ? fallback : (JSON.parse(text) as T)
  } catch {
    // No storage, or invalid JSON.
    return fallback
  }
}

/** Stores a value; undefined removes it. Returns false if storage is full or refused. */
export function writeItem(key: string, value: unknown): boolean {
  try {
    if (value === undefined) localStorage.removeItem(key)
    else localStorage.setItem(key, JSON.stringify(value))
    return true
  } catch {
    return false
  }
}

/** Keys of stored items that begin with a text. */
export function storedKeys(prefix: string): string[] {
  try {
    return Object.keys(localStorage).filter((key) => key.startsWith(prefix))
  } catch {
    // No storage.
    return []
  }
}
