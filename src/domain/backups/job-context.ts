export interface JobContext {
  progress?: {
    /** The total in bytes, once known. */
    total(bytes: number): void
    add(bytes: number): void
  }
  signal?: AbortSignal | undefined
}
