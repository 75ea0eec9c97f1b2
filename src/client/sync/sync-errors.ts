/** Something is not as it was when the plan was made: the operation is dropped, and the next plan sees the new state. */
export class Changed extends Error {
  override name = 'Changed'
  readonly side: 'local' | 'remote'

  constructor(side: 'local' | 'remote', cause?: unknown) {
    super(side === 'local' ? 'It was changed here meanwhile.' : 'It was changed on the server meanwhile.', { cause })
    this.side = side
  }
}

/** What arrived is not what the server announced: cut off, or altered on the way. */
export class CorruptContent extends Error {
  override name = 'Corrupt'
}

/** Another run works on the same folder. */
export class FolderLocked extends Error {
  override name = 'Held'
  readonly exitCode = 6
}

/** There is no synchronised folder where one was looked for; with code 2 there are several, and one must be named. */
export class NoRoot extends Error {
  override name = 'NoRoot'
  readonly exitCode: 2 | 5

  constructor(message: string, exitCode: 2 | 5 = 5) {
    super(message)
    this.exitCode = exitCode
  }
}
