/** Whether an If-None-Match or If-Match header lists a tag. Comparison is weak (RFC 9110, 8.8.3.2). */
export function matchesEtag(header: string | undefined, tag: string): boolean {
  if (header === undefined) return false
  const strong = (text: string) => text.trim().replace(/^W\//, '')
  return header.trim() === '*' || header.split(',').some((one) => strong(one) === strong(tag))
}
