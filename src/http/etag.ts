/** Whether an If-None-Match or If-Match header names a tag; comparison is weak (RFC 9110, section 8.8.3.2). */
export function matches(header: string | undefined, tag: string): boolean {
  if (header === undefined) return false
  const strong = (text: string) => text.trim().replace(/^W\//, '')
  return header.trim() === '*' || header.split(',').some((one) => strong(one) === strong(tag))
}
