import { XMLParser } from 'fast-xml-parser'

export type Fields = Record<string, string>

// All values are text: a name of digits is not a number.
const parser = new XMLParser({
  parseTagValue: false,
  ignoreDeclaration: true,
  isArray: (name) => name === 'Contents',
})

function read(xml: string, root: string): Record<string, unknown> | undefined {
  if (!xml.includes(`<${root}`)) return undefined
  try {
    const found = (parser.parse(xml) as Record<string, unknown>)[root]
    return typeof found === 'object' && found !== null ? (found as Record<string, unknown>) : undefined
  } catch {
    // For example an error page of a proxy.
    return undefined
  }
}

/** The fields of a response with this root, such as `Error`; undefined for any other. */
export const fieldsOf = (xml: string, root: string): Fields | undefined => read(xml, root) as Fields | undefined

/** The entries and the other fields of a list; undefined if it is not one. */
export function listIn(xml: string): { entries: Fields[]; fields: Fields } | undefined {
  const found = read(xml, 'ListBucketResult')
  return found && { entries: (found['Contents'] ?? []) as Fields[], fields: found as Fields }
}

const escapes: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' }

export const partsXml = (etags: string[]): string =>
  `<CompleteMultipartUpload>${etags
    .map((etag, index) => {
      const escaped = etag.replace(/[&<>]/g, (letter) => escapes[letter]!)
      return `<Part><PartNumber>${index + 1}</PartNumber><ETag>${escaped}</ETag></Part>`
    })
    .join('')}</CompleteMultipartUpload>`
