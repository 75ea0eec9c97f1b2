/** Whether a value is nested more than `depth` levels deep; looks no further down. */
export function deeperThan(value: unknown, depth: number): boolean {
  if (typeof value !== 'object' || value === null) return false
  return depth === 0 || Object.values(value).some((part) => deeperThan(part, depth - 1))
}
