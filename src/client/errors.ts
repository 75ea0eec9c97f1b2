/** The server was not reached, the connection broke, or the server broke the contract. The message says what to do. */
export class Unreachable extends Error {
  override name = 'Unreachable'
  readonly exitCode = 7
  /** Whether the server may nevertheless have processed the request. */
  readonly outcomeUnknown: boolean
  /** Status of a response that did not come from svc. */
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

/** There is no usable sign-in for the requested account. */
export class NotSignedIn extends Error {
  override name = 'NotSignedIn'
  readonly exitCode = 4
}
