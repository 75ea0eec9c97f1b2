import { geoGraticule10, geoPath, geoEquirectangular } from 'd3-geo'
import { feature } from 'topojson-client'
import type { GeometryCollection, Topology } from 'topojson-specification'
import atlas from 'world-atlas/land-110m.json'

/** Size of the map: two units per degree. */
export const WIDTH = 720
export const HEIGHT = 360

const projection = geoEquirectangular()
  .scale(WIDTH / (2 * Math.PI))
  .translate([WIDTH / 2, HEIGHT / 2])
const path = geoPath(projection).digits(1)
const world = atlas as unknown as Topology<{ land: GeometryCollection }>

/** Land (Natural Earth, 1:110 million) and lines of every ten degrees, as SVG paths. */
export const land = path(feature(world, world.objects.land)) ?? ''
export const degrees = path(geoGraticule10()) ?? ''

/** Map coordinates of a place. */
export const pointOf = ({ latitude, longitude }: { latitude: number; longitude: number }) => ({
  x: (longitude + 180) * 2,
  y: (90 - latitude) * 2,
})
