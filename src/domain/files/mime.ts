import mime from 'mime'

/** The media type that a file's name promises. Never taken from what a client says. */
export const mimeOf = (name: string): string => mime.getType(name) ?? 'application/octet-stream'
