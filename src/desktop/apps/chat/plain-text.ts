/** The beginning of a message in one line, without the marks of Markdown. */
export const plainText = (content: string): string =>
  content
    .slice(0, 300)
    .replace(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/[*_`~]+|^[>#]+ ?/gm, '')
    .replace(/\s+/g, ' ')
    .trim()
