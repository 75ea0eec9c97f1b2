import mime from 'mime'

const OTHER = 'application/octet-stream'

// By the letters after the last dot: a folder has many names and few endings. What is longer is no ending anybody knows.
const known = new Map<string, string>()
const LONGEST = 16
const MOST = 2_000

/** The media type that a file's name promises. Never taken from what a client says. */
export function mimeOf(name: string): string {
  const ending = name.slice(name.lastIndexOf('.') + 1)
  if (ending.length > LONGEST || known.size > MOST) return mime.getType(name) ?? OTHER
  let type = known.get(ending)
  if (type === undefined) known.set(ending, (type = mime.getType(ending) ?? OTHER))
  return type
}
