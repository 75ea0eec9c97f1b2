/** One request as it goes over the wire. */
export interface WireRequest {
  method: 'GET' | 'POST'
  url: string
  headers: Record<string, string>
  /** A piece of a stream may still be held when the next one is asked for, but not when the one after that is. */
  body?: Uint8Array | AsyncIterable<Uint8Array>
  /** Length of `body` in bytes. */
  size?: number
  /** Milliseconds without a byte in either direction before the request is given up. */
  timeout: number
  /** Whether the server may receive it twice without harm; only then it is sent again when a kept connection turns out dead. */
  repeatable: boolean
  signal?: AbortSignal | undefined
}

export interface WireAnswer {
  status: number
  /** Lower-case names. */
  headers: Record<string, string>
  /** To be read to its end or left with `break`; otherwise the connection stays taken. */
  body: AsyncIterable<Uint8Array>
}

/** Carries requests to a server: Node's http here, a browser's fetch elsewhere. Fails with `Unreachable`, an abort with the signal's reason. */
export interface Transport {
  /** Resolves when the headers are there. Redirects are answers like any other: nothing is followed. */
  request(request: WireRequest): Promise<WireAnswer>
  /** Lets go of kept connections. */
  close(): void
}
