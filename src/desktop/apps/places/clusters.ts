import type { Place } from './store.ts'
import { HEIGHT, pointOf, WIDTH } from './world.ts'

/** Cells of the visible part of the map in each direction; places in one cell share a marker. */
const COLUMNS = 24
const ROWS = 12

export interface Cluster {
  /** Of the first place. */
  key: string
  x: number
  y: number
  places: readonly Place[]
}

/** Places near each other at a zoom, so that a map has few markers however many places there are. One is always alone. */
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
