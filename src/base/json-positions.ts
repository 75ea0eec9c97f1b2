import type { Path } from './document-positions.ts'

// Walks over the text of valid JSON without creating values, for what `JSON.parse` does not report.

interface Visit {
  /** A member of a collection, with its path and offset; in an object, that of its name. Return true to end the walk. */
  member(path: Path, offset: number): boolean | void
  /** An object or a list begins. */
  open?(depth: number, offset: number): void
}

/** The position after the string that begins at `at`. */
function behindString(text: string, at: number): number {
  for (let end = text.indexOf('"', at + 1); ; end = text.indexOf('"', end + 1)) {
    let before = end
    while (text[before - 1] === '\\') before -= 1
    if ((end - before) % 2 === 0) return end + 1
  }
}

function behindBlanks(text: string, at: number): number {
  let next = at
  for (let code = text.charCodeAt(next); code === 32 || code === 10 || code === 13 || code === 9;)
    code = text.charCodeAt(++next)
  return next
}

function nameIn(text: string, from: number, to: number): string {
  const inside = text.slice(from + 1, to - 1)
  return inside.includes('\\') ? (JSON.parse(text.slice(from, to)) as string) : inside
}

function walk(text: string, { member, open }: Visit): void {
  const path: (string | number)[] = []
  /** Visits the list item after `at`, if there is one. */
  const item = (at: number): boolean | void => {
    const begins = behindBlanks(text, at + 1)
    return text[begins] === ']' ? false : member(path, begins)
  }
  for (let at = 0; at < text.length;) {
    const sign = text[at]!
    if (sign === '"') {
      const end = behindString(text, at)
      const next = behindBlanks(text, end)
      if (text[next] === ':') {
        path[path.length - 1] = nameIn(text, at, end)
        if (member(path, at)) return
      }
      at = next
      continue
    }
    if (sign === '{' || sign === '[') {
      const depth = path.push(sign === '{' ? '' : 0)
      open?.(depth, at)
      if (sign === '[' && item(at)) return
    } else if (sign === '}' || sign === ']') path.pop()
    else if (sign === ',') {
      const last = path.at(-1)!
      if (typeof last === 'number') {
        path[path.length - 1] = last + 1
        if (item(at)) return
      }
    }
    at += 1
  }
}

/** The nesting limit: deeper than any real document, and shallow enough for recursion. */
const DEEPEST = 200

/** What `JSON.parse` accepts in valid JSON but this does not: duplicate names, and nesting that is too deep. */
export function strictJsonProblem(text: string): { offset: number; message: string } | undefined {
  let found: { offset: number; message: string } | undefined
  const names: Set<unknown>[] = []
  walk(text, {
    open(depth, offset) {
      if (depth > DEEPEST) found ??= { offset, message: 'this is nested too deeply' }
      else names[depth] = new Set()
    },
    member(path, offset) {
      const name = path.at(-1)
      if (typeof name === 'number') return false
      if (names[path.length]?.has(name)) found ??= { offset, message: `"${name}" is given twice` }
      else names[path.length]?.add(name)
      return found !== undefined
    },
  })
  return found
}

/** Where the part at a path begins, or its nearest parent; for a value with a name, the name. */
export function offsetIn(text: string, path: Path): number {
  let offset = behindBlanks(text, 0)
  let known = 0
  walk(text, {
    member(at, begins) {
      if (at.length !== known + 1 || !at.every((step, index) => String(step) === String(path[index]))) return false
      offset = begins
      known += 1
      return known === path.length
    },
  })
  return offset
}
