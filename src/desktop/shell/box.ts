/** A place on the screen, in pixels. */
export interface Box {
  x: number
  y: number
  width: number
  height: number
}
