/** Progress and cancellation of a long job. */
export interface JobContext {
  progress?: {
    /** The total in bytes, once known. */
    total(bytes: number): void
    add(bytes: number): void
  }
  signal?: AbortSignal | undefined
}
