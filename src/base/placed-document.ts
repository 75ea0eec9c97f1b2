/** The way from the top of a document to a part of it: names and positions. */
export type Path = readonly (string | number)[]

/** Where something stands in a text, counted from 1. */
export interface Place {
  line: number
  column: number
}

/** A document as a value, and where each part of it stands. */
export interface PlacedDocument {
  value: unknown
  /** Where a part begins; where the nearest part around it does when it is not there. */
  placeOf(path: Path): Place
}

/** The text is no document; each problem with its place. */
export class BadDocument extends Error {
  override name = 'BadDocument'
  readonly problems: readonly (Place & { message: string })[]

  constructor(problems: readonly (Place & { message: string })[]) {
    super(problems.map(({ line, column, message }) => `${line}:${column} ${message}`).join('\n'))
    this.problems = problems
  }
}
