import type { Fault } from '../../contract/errors.ts'

export interface AdmittedUpload {
  user: number
  max: number
  /** The account's quota in bytes, -1 for unlimited; its concurrent uploads share it. */
  quota: number
  /** The fault when it exceeds its limit. */
  refusal: () => Fault
}

/** Counts the bytes of each account's concurrent uploads, so that they cannot fill the disk before one is refused. */
export function makeUploadAccounting() {
  const held = new Map<number, number>()

  const change = (user: number, bytes: number): number => {
    const now = (held.get(user) ?? 0) + bytes
    if (now > 0) held.set(user, now)
    else held.delete(user)
    return now
  }

  return {
    /** Passes an upload's bytes through within its limits. Call `done` when the bytes are stored or discarded. */
    take(upload: AdmittedUpload | undefined, source: AsyncIterable<Uint8Array>) {
      if (!upload) return { body: source, done: () => undefined }
      const { user, max, quota, refusal } = upload
      let size = 0
      async function* passed(): AsyncGenerator<Uint8Array> {
        for await (const piece of source) {
          size += piece.length
          const all = change(user, piece.length)
          // An account over its quota may still replace a file of the same size.
          if (size > max || (quota >= 0 && all > Math.max(quota, max))) throw refusal()
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
