/** A place on the screen, in pixels. */
export interface Rect {
  x: number
  y: number
  width: number
  height: number
}
