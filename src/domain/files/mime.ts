import mime from 'mime'

const OTHER = 'application/octet-stream'

// Cached per extension; longer ones are unknown.
const known = new Map<string, string>()
const LONGEST = 16
const MAX_CACHED = 2_000

/** The media type by file extension, never the one a client declares. */
export function mimeOf(name: string): string {
  const ending = name.slice(name.lastIndexOf('.') + 1)
  if (ending.length > LONGEST || known.size > MAX_CACHED) return mime.getType(name) ?? OTHER
  let type = known.get(ending)
  if (type === undefined) known.set(ending, (type = mime.getType(ending) ?? OTHER))
  return type
}
