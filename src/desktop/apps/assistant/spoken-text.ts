/** Removes Markdown syntax from a text to be read aloud. */
export const spokenText = (text: string): string =>
  text
    .replace(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/^\s*(?:[>#]+|[-*+]|\|)\s*|[*_`~|]+/gm, ' ')
    .replace(/\s+/g, ' ')
    .trim()
