/** Position of a value in a JSON body: keys and indices. */
export type Place = readonly (string | number)[]

/** All positions in a JSON body below the root. */
export function placesIn(value: unknown, at: Place = []): Place[] {
  if (typeof value !== 'object' || value === null) return []
  const keys = Array.isArray(value) ? value.map((_, index) => index) : Object.keys(value)
  return keys.flatMap((key) => {
    const place = [...at, key]
    return [place, ...placesIn((value as Record<string | number, unknown>)[key], place)]
  })
}

/** A copy of a body with one position changed. */
export function changedAt(
  body: unknown,
  place: Place,
  change: (holder: Record<string | number, unknown>, key: string | number) => void,
): unknown {
  const copy: unknown = structuredClone(body)
  let holder = copy as Record<string | number, unknown>
  for (const key of place.slice(0, -1)) holder = holder[key] as Record<string | number, unknown>
  change(holder, place.at(-1)!)
  return copy
}

/** A copy of a body with another value at a position. */
export const put = (body: unknown, place: Place, value: unknown): unknown =>
  changedAt(body, place, (holder, key) => (holder[key] = value))

/** A copy of a body without a position. */
export const without = (body: unknown, place: Place): unknown =>
  changedAt(body, place, (holder, key) => {
    if (Array.isArray(holder)) holder.splice(Number(key), 1)
    else delete holder[key]
  })
