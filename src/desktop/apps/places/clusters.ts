import type { Place } from './store.ts'
import { HEIGHT, pointOf, WIDTH } from './world.ts'

/** Grid of the visible map; places in one cell share a marker. */
const COLUMNS = 24
const ROWS = 12

export interface Cluster {
  /** Key of the first place. */
  key: string
  x: number
  y: number
  places: readonly Place[]
}

/** Groups places by grid cell, so that a map has few markers. The place with `aloneKey` is never grouped. */
export function clustersOf(places: readonly Place[], zoom: number, aloneKey: string | undefined): Cluster[] {
  const cells = new Map<string, Place[]>()
  for (const place of places) {
    const { x, y } = pointOf(place)
    const column = Math.floor((x / WIDTH) * COLUMNS * zoom)
    const row = Math.floor((y / HEIGHT) * ROWS * zoom)
    const cell = place.key === aloneKey ? 'alone' : `${column} ${row}`
    const known = cells.get(cell)
    if (known) known.push(place)
    else cells.set(cell, [place])
  }
  return [...cells.values()].map((found) => ({ key: found[0]!.key, ...pointOf(found[0]!), places: found }))
}
