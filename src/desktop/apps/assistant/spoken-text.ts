/** A text without the marks of Markdown, for being read aloud. */
export const spokenText = (text: string): string =>
  text
    .replace(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/^\s*(?:[>#]+|[-*+]|\|)\s*|[*_`~|]+/gm, ' ')
    .replace(/\s+/g, ' ')
    .trim()
