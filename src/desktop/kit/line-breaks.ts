import type { ChangeSet, Text } from '@codemirror/state'

const breaksOf = (text: string): string[] => (text.includes('\r') ? text : '').match(/\r\n?|\n/g) ?? []

/** Keeps the line breaks of a text that has others than LF: the document of an editor knows only one kind. */
export function makeLineBreaks(text: string) {
  /** The break after each line; empty if all are LF. */
  let breaks = breaksOf(text)

  return {
    replace: (next: string): void => void (breaks = breaksOf(next)),
    /** Follows changes of the document `before`. New lines end like the first one. */
    follow(changes: ChangeSet, before: Text): void {
      if (breaks.length === 0) return
      const usual = breaks[0]!
      const next: string[][] = []
      let line = 0
      changes.iterChanges((from, to, _fromNew, _toNew, inserted) => {
        const added = Array.from({ length: inserted.lines - 1 }, () => usual)
        next.push(breaks.slice(line, before.lineAt(from).number - 1), added)
        line = before.lineAt(to).number - 1
      })
      breaks = [...next, breaks.slice(line)].flat()
    },
    /** The text of the document with its line breaks. */
    textOf(document: Text): string {
      if (breaks.length === 0) return document.toString()
      const parts: string[] = []
      for (const line of document.iterLines()) parts.push(line, breaks[parts.length / 2] ?? '')
      return parts.join('')
    },
  }
}
