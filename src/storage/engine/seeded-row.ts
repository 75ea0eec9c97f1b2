/** Something a seed made. */
export interface SeededRow {
  user_id: number
  kind: string
  /** The name the seed gives it, one of its kind and user. */
  key: string
  /** SHA-256 of what the seed said about it. */
  hash: string
  /** Id of the row, room or message; null for what is found by its key. */
  target: number | null
  /** Its version when the seed last wrote it; another one now means that somebody else did. */
  version: number | null
}
