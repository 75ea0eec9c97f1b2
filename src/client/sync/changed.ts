/** Something is not as it was when the plan was made: the operation is dropped, and the next plan sees the new state. */
export class Changed extends Error {
  override name = 'Changed'
  readonly side: 'here' | 'there'

  constructor(side: 'here' | 'there', cause?: unknown) {
    super(side === 'here' ? 'It was changed here meanwhile.' : 'It was changed on the server meanwhile.', { cause })
    this.side = side
  }
}

/** What arrived is not what the server announced: cut off, or altered on the way. */
export class Corrupt extends Error {
  override name = 'Corrupt'
}
