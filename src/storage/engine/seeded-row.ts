/** Something that a seed created. */
export interface SeededRow {
  user_id: number
  kind: string
  /** Its name in the seed, unique per kind and user. */
  key: string
  /** SHA-256 of its description in the seed. */
  hash: string
  /** ID of the row, room or message; null for what its key identifies. */
  target: number | null
  /** Its version when the seed last wrote it; a different one means that it was changed since. */
  version: number | null
}
