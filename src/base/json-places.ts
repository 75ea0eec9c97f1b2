// Walks over the text of sound JSON without making values of it: what `JSON.parse` does not tell.

type Visit = {
  /** A name of an object, with where it stands and how deep. */
  key?: (key: string, offset: number, depth: number) => void
  /** An object or a list begins. */
  open?: (depth: number, offset: number) => void
}

const QUOTE = 34
const BACKSLASH = 92

/** The position behind a string that begins at `at`. */
function behindString(text: string, at: number): number {
  for (let end = text.indexOf('"', at + 1); ; end = text.indexOf('"', end + 1)) {
    let before = end
    while (text.charCodeAt(before - 1) === BACKSLASH) before -= 1
    if ((end - before) % 2 === 0) return end + 1
  }
}

const textOf = (text: string, from: number, to: number): string => {
  const inside = text.slice(from + 1, to - 1)
  return inside.includes('\\') ? (JSON.parse(text.slice(from, to)) as string) : inside
}

const isBlank = (code: number): boolean => code === 32 || code === 10 || code === 13 || code === 9

function behindBlanks(text: string, at: number): number {
  let next = at
  while (isBlank(text.charCodeAt(next))) next += 1
  return next
}

function walk(text: string, { key, open }: Visit): void {
  let depth = 0
  for (let at = 0; at < text.length;) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) {
      const end = behindString(text, at)
      const next = behindBlanks(text, end)
      if (text[next] === ':') key?.(textOf(text, at, end), at, depth)
      at = next
    } else {
      if (code === 123 || code === 91) open?.(++depth, at)
      else if (code === 125 || code === 93) depth -= 1
      at += 1
    }
  }
}

/** Deeper than any document that is meant to be read, and not too deep for whoever walks over its values. */
const DEEPEST = 200

/** What `JSON.parse` lets pass in a sound JSON text: a name that an object has twice, and nesting without end. */
export function jsonFlaw(text: string): { offset: number; message: string } | undefined {
  let found: { offset: number; message: string } | undefined
  const names: Set<string>[] = []
  walk(text, {
    open(depth, offset) {
      if (depth > DEEPEST) found ??= { offset, message: 'this is nested too deeply' }
      else names[depth] = new Set()
    },
    key(key, offset, depth) {
      if (names[depth]?.has(key)) found ??= { offset, message: `"${key}" is given twice` }
      else names[depth]?.add(key)
    },
  })
  return found
}

/** The position behind the value that begins at `at`. */
function behindValue(text: string, at: number): number {
  const code = text.charCodeAt(at)
  if (code === QUOTE) return behindString(text, at)
  if (code !== 123 && code !== 91) {
    let end = at
    while (end < text.length && !',]}'.includes(text[end]!) && !isBlank(text.charCodeAt(end))) end += 1
    return end
  }
  let depth = 0
  for (let next = at; ;) {
    const each = text.charCodeAt(next)
    if (each === QUOTE) {
      next = behindString(text, next)
      continue
    }
    if (each === 123 || each === 91) depth += 1
    else if (each === 125 || each === 93) depth -= 1
    next += 1
    if (depth === 0) return next
  }
}

/** One member of the collection that begins at `at`: where it begins, and where its value does. */
function member(text: string, at: number, step: string | number): { begins: number; value: number } | undefined {
  const isObject = text[at] === '{'
  let next = behindBlanks(text, at + 1)
  for (let index = 0; text[next] !== '}' && text[next] !== ']'; index += 1) {
    const begins = next
    let name: string | number = index
    if (isObject) {
      const end = behindString(text, next)
      name = textOf(text, next, end)
      next = behindBlanks(text, behindBlanks(text, end) + 1)
    }
    if (String(name) === String(step)) return { begins, value: next }
    next = behindBlanks(text, behindValue(text, next))
    if (text[next] === ',') next = behindBlanks(text, next + 1)
  }
  return undefined
}

/** Where the part at a path of a sound JSON text begins, or the nearest part around it: for a value under a name, the name. */
export function offsetIn(text: string, path: readonly (string | number)[]): number {
  let offset = behindBlanks(text, 0)
  let value = offset
  for (const step of path) {
    if (text[value] !== '{' && text[value] !== '[') break
    const found = member(text, value, step)
    if (!found) break
    offset = found.begins
    value = found.value
  }
  return offset
}
