import { printable } from '../../../base/text.ts'

/** The beginning of a message in one line, without the marks of Markdown; what reorders the text of a link is marked. */
export const plainText = (content: string): string =>
  content
    .slice(0, 300)
    .replace(/!?\[([^\]]*)\]\([^)]*\)/g, (_, text: string) => printable(text))
    .replace(/[*_`~]+|^[>#]+ ?/gm, '')
    .replace(/\s+/g, ' ')
    .trim()
