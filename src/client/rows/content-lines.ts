/** A component of a file, and the position of its beginning in the text. */
export interface ComponentText {
  part: string
  from: number
}

/** A text with the line ends that the functions of this file expect; it begins with one. */
export const linesOf = (text: string): string => `\n${text.replace(/^\ufeff/, '').replaceAll(/\r\n?/g, '\n')}`

/**
 * The texts of the components of a kind (RFC 5545, RFC 6350), and where they begin; a continued line begins with a space, so these
 * lines begin and end them.
 */
export function* componentsOf(text: string, kind: string): Generator<ComponentText, void, void> {
  const [begin, end] = [
    new RegExp(`\nBEGIN:${kind}[ \t]*(?=\n)`, 'gi'),
    new RegExp(`\nEND:${kind}[ \t]*(?=\n|$)`, 'gi'),
  ]
  for (let found = begin.exec(text); found; found = begin.exec(text)) {
    end.lastIndex = found.index
    const last = end.exec(text)
    if (!last) return
    yield { part: text.slice(found.index + 1, last.index + last[0].length), from: found.index + 1 }
    begin.lastIndex = last.index
  }
}

export const partsOf = (text: string, kind: string): string[] => [...componentsOf(text, kind)].map(({ part }) => part)

/** Most characters of an attachment that is an address. */
const MAX_LINK = 10_000

/** The text of an event without the attachments whose content is in it, and their number. */
export function withoutAttachments(part: string): { text: string; attachments: number } {
  const lines = part.split('\n')
  const kept: string[] = []
  let attachments = 0
  for (let from = 0, to = 0; from < lines.length; from = to) {
    let size = lines[from]!.length
    for (to = from + 1; to < lines.length && /^[ \t]/.test(lines[to]!); to++) size += lines[to]!.length
    if (size > MAX_LINK && /^ATTACH[;:]/i.test(lines[from]!)) attachments++
    else for (let at = from; at < to; at++) kept.push(lines[at]!)
  }
  return { text: kept.join('\n'), attachments }
}

/** Finds the lines of positions that only grow. */
export function makeLineCounter(body: string): (position: number) => number {
  let [line, counted] = [0, 0]
  return (position) => {
    for (let at = body.indexOf('\n', counted); at !== -1 && at < position; at = body.indexOf('\n', counted)) {
      line++
      counted = at + 1
    }
    return line
  }
}
