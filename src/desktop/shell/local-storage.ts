// What the desktop keeps in the browser: how it was arranged, and drafts. Browsers may refuse it, and then it is simply not kept.

/** A stored value, or what stands for none. */
export function readItem<T>(key: string, fallback: T): T {
  try {
    const text = localStorage.getItem(key)
    return text === null ? fallback : (JSON.parse(text) as T)
  } catch {
    // Nothing is kept here, or not by us.
    return fallback
  }
}

/** Stores a value; undefined removes it. Answers whether there was room. */
export function writeItem(key: string, value: unknown): boolean {
  try {
    if (value === undefined) localStorage.removeItem(key)
    else localStorage.setItem(key, JSON.stringify(value))
    return true
  } catch {
    // Full or forbidden: the desktop works without.
    return false
  }
}
