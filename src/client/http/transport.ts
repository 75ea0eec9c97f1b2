export interface WireRequest {
  method: 'GET' | 'POST'
  url: string
  headers: Record<string, string>
  /** The consumer may hold at most two chunks at a time. */
  body?: Uint8Array | AsyncIterable<Uint8Array>
  /** Length of `body` in bytes. */
  size?: number
  /** Idle timeout in both directions, ms. */
  timeout: number
  /** Whether the request is idempotent; only then it is sent again on a closed kept-alive connection. */
  repeatable: boolean
  signal?: AbortSignal | undefined
}

export interface WireAnswer {
  status: number
  /** Lower-case names. */
  headers: Record<string, string>
  /** Must be read to its end or left with `break`; otherwise the connection stays in use. */
  body: AsyncIterable<Uint8Array>
  /**
   * Closes the connection instead of reading the body: whoever sent it is not the server, and the next request must not
   * reach them again.
   */
  abandon?: () => void
}

/** Sends requests with Node's http or a browser's fetch. Throws `Unreachable`, or the reason of an abort. */
export interface Transport {
  /** Resolves when the headers arrive. Redirects are not followed. */
  request(request: WireRequest): Promise<WireAnswer>
  /** Closes idle connections. */
  close(): void
}
