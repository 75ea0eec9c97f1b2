/** The server was not reached, broke off, or does not speak the contract; the message is one sentence that says what to do. */
export class Unreachable extends Error {
  override name = 'Unreachable'
  readonly exitCode = 7
  /** Whether the server may have carried the request out all the same. */
  readonly outcomeUnknown: boolean
  /** The status of an answer that no svc server gave. */
  readonly status: number | undefined

  constructor(
    message: string,
    { outcomeUnknown = false, status, ...options }: ErrorOptions & { outcomeUnknown?: boolean; status?: number } = {},
  ) {
    super(message, options)
    this.outcomeUnknown = outcomeUnknown
    this.status = status
  }
}

/** There is no usable sign-in for the account asked for. */
export class NotSignedIn extends Error {
  override name = 'NotSignedIn'
  readonly exitCode = 4
}
