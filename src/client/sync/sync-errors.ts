/** Something changed since the plan was made: the operation is dropped, and the next plan sees the new state. */
export class Changed extends Error {
  override name = 'Changed'
  readonly side: 'local' | 'remote'

  constructor(side: 'local' | 'remote', cause?: unknown) {
    super(side === 'local' ? 'It was changed locally meanwhile.' : 'It was changed on the server meanwhile.', { cause })
    this.side = side
  }
}

/** The received content differs from the announced one: cut off or modified. */
export class CorruptContent extends Error {
  override name = 'Corrupt'
}

/** Another run works on the same folder. */
export class FolderLocked extends Error {
  override name = 'Held'
  readonly exitCode = 6
}

/** No synchronised folder was found; with exit code 2 there are several, and one must be named. */
export class NoRoot extends Error {
  override name = 'NoRoot'
  readonly exitCode: 2 | 5

  constructor(message: string, exitCode: 2 | 5 = 5) {
    super(message)
    this.exitCode = exitCode
  }
}
