/** How work that takes a while says how far it is, and how it is told to stop. */
export interface JobContext {
  progress?: {
    /** The bytes there are to do, once they are known. */
    total(bytes: number): void
    add(bytes: number): void
  }
  signal?: AbortSignal | undefined
}
