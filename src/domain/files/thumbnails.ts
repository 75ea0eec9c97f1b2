import type { Readable } from 'node:stream'
import { DAY } from '../../base/clock.ts'
import { formatSize } from '../../base/sizes.ts'
import { fault } from '../../contract/errors.ts'
import { THUMBNAIL } from '../../contract/limits.ts'
import type { Contents } from '../../storage/contents/contents.ts'
import type { ThumbnailCache } from '../../storage/contents/thumbnail-cache.ts'
import { tagOf, type FileFacts } from './queries.ts'

type Refusal = 'damaged' | 'pixels' | 'costly'

/** Decodes images outside this process. */
interface Thumbnailer {
  isAvailable(): boolean
  make(job: {
    user: number
    read: () => Promise<Readable | Buffer>
    size: number
    edge: number
  }): Promise<Buffer | Refusal>
}

interface Parts {
  contents: Contents
  thumbnailer: Thumbnailer
  cache: ThumbnailCache
  isOn: () => Promise<boolean>
}

const reasons: Record<Refusal, string> = {
  damaged: 'The file is damaged, or not an image that thumbnails are made of.',
  pixels: `Images of more than ${THUMBNAIL.max_pixels / 1_000_000} million pixels have no thumbnails.`,
  costly: 'The image takes too much time or memory: it has no thumbnail.',
}

/** First byte of a remembered refusal, whose reason follows; thumbnails begin with `R`. */
const REFUSED = '!'
const isRefusal = (data: Buffer): boolean => data.toString('latin1', 0, 1) === REFUSED
/** Time after which a refused image is tried again, ms. */
const REFUSED_FOR = DAY

/** Thumbnails by content and size, which every file with that content shares. */
export function makeThumbnails({ contents, thumbnailer, cache, isOn }: Parts) {
  const making = new Map<string, Promise<Buffer>>()

  async function make(user: number, { sha256, size }: FileFacts, edge: number, key: string): Promise<Buffer> {
    const known = await cache.get(key)
    if (known && (!isRefusal(known.data) || known.age < REFUSED_FOR)) return known.data
    const made = await thumbnailer
      .make({ user, read: () => contents.read(sha256), size, edge })
      .catch((error: unknown) => {
        throw thumbnailer.isAvailable() ? error : fault('thumbnails_unavailable')
      })
    const data = Buffer.isBuffer(made) ? made : Buffer.from(REFUSED + made)
    await cache.put(key, data)
    return data
  }

  return {
    tagOf,

    /**
     * The thumbnail of a content as WebP, with an edge of at most `edge` pixels. Faults: `thumbnails_unavailable`,
     * `too_large`, `unsupported_media_type`.
     */
    async of(user: number, facts: FileFacts, edge: number): Promise<Buffer> {
      if (!thumbnailer.isAvailable() || !(await isOn())) throw fault('thumbnails_unavailable')
      if (facts.size > THUMBNAIL.max_bytes)
        throw fault('too_large', {
          text: `Thumbnails are made of files of at most ${formatSize(THUMBNAIL.max_bytes)}.`,
        })
      const key = `${facts.sha256}-${edge}`
      let made = making.get(key)
      if (!made) {
        made = make(user, facts, edge, key).finally(() => making.delete(key))
        making.set(key, made)
      }
      const data = await made
      if (!isRefusal(data)) return data
      throw fault('unsupported_media_type', { text: reasons[data.toString('latin1', 1) as Refusal] })
    },
  }
}

export type Thumbnails = ReturnType<typeof makeThumbnails>
