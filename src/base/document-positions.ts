/** The path from the root of a document to a part of it: names and positions. */
export type Path = readonly (string | number)[]

/** A position in a text, counted from 1. */
export interface Place {
  line: number
  column: number
}

export interface PlacedDocument {
  value: unknown
  /** Where a part begins; for a missing part, where its nearest parent begins. */
  placeOf(path: Path): Place
}

export class BadDocument extends Error {
  override name = 'BadDocument'
  readonly problems: readonly (Place & { message: string })[]

  constructor(problems: readonly (Place & { message: string })[]) {
    super(problems.map(({ line, column, message }) => `${line}:${column} ${message}`).join('\n'))
    this.problems = problems
  }
}
