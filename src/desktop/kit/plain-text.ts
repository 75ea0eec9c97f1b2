import { printable } from '../../base/text.ts'

/** The start of a text without Markdown, on one line; bidirectional control characters are made visible. */
export const plainText = (content: string): string =>
  content
    .slice(0, 300)
    .replace(/!?\[([^\]]*)\]\([^)]*\)/g, (_, text: string) => printable(text))
    .replace(/[*_`~]+|^ *(?:[>#]+ ?|[-+] (?:\[[ x]\] )?)/gm, '')
    .replace(/\s+/g, ' ')
    .trim()
