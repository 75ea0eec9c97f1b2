import type { Fault } from '../../contract/errors.ts'

/** An upload that was admitted. */
export interface AdmittedUpload {
  user: number
  /** Bytes that may come. */
  most: number
  /** The account's quota in bytes, -1 for unlimited: what all its uploads under way may hold together. */
  quota: number
  /** What is told when more comes. */
  refusal: () => Fault
}

/** Counts what the uploads under way of each account hold, so that they cannot fill the disk before any is refused. */
export function makeUploadAccounting() {
  const held = new Map<number, number>()

  const change = (user: number, bytes: number): number => {
    const now = (held.get(user) ?? 0) + bytes
    if (now > 0) held.set(user, now)
    else held.delete(user)
    return now
  }

  return {
    /** Passes on what an upload receives, as long as it may. `done` is to be called when the bytes are stored or dropped. */
    take(flight: AdmittedUpload | undefined, source: AsyncIterable<Uint8Array>) {
      if (!flight) return { body: source, done: () => undefined }
      const { user, most, quota, refusal } = flight
      let size = 0
      async function* passed(): AsyncGenerator<Uint8Array> {
        for await (const piece of source) {
          size += piece.length
          const all = change(user, piece.length)
          // Whoever is over it may still send what replaces as much.
          if (size > most || (quota >= 0 && all > Math.max(quota, most))) throw refusal()
          yield piece
        }
      }
      return {
        body: passed(),
        done(): void {
          change(user, -size)
          size = 0
        },
      }
    },
  }
}

export type UploadAccounting = ReturnType<typeof makeUploadAccounting>
