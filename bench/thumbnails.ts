import { createRequire } from 'node:module'
import { makeThumbnailer } from '../src/outside/thumbnailer.ts'
import type { Figure } from './figure.ts'
import { interleave, rate } from './rounds.ts'
import { numbers } from './samples.ts'

const IMAGES = 20
const EDGE = 256

interface Image {
  blur(sigma: number): Image
  resize(edge: number, height: number, options: object): Image
  jpeg(): Image
  webp(options: object): Image
  toBuffer(): Promise<Buffer>
}

const SHARP = 'sharp'

/** Thumbnails of photos of 12 million pixels on one core, in the process of their own. */
export const thumbnails: Figure = {
  name: 'thumbnails',
  unit: 'thumbnails/s',
  peer: 'sharp in this process',
  wanted: { least: 0.5 },
  missing() {
    try {
      createRequire(import.meta.url).resolve(SHARP)
      return undefined
    } catch {
      return SHARP
    }
  },
  async measure() {
    const { default: sharp } = (await import(SHARP)) as { default: (input: unknown) => Image }
    const noise = { type: 'gaussian', mean: 128, sigma: 30 }
    const create = { width: 4_000, height: 3_000, channels: 3, background: '#678', noise }
    const photo = await sharp({ create }).blur(2).jpeg().toBuffer()
    const thumbnailer = makeThumbnailer({ processes: 1 })
    const job = { user: 1, read: () => Promise.resolve(photo), size: photo.length, edge: EDGE }
    const options = { fit: 'inside', withoutEnlargement: true }
    try {
      await thumbnailer.make(job)
      return await interleave({
        ours: () => rate(IMAGES, () => Promise.all(numbers(IMAGES).map(() => thumbnailer.make(job)))),
        peer: () =>
          rate(IMAGES, async () => {
            for (const _ of numbers(IMAGES))
              await sharp(photo).resize(EDGE, EDGE, options).webp({ quality: 76, effort: 2 }).toBuffer()
          }),
        rounds: 5,
      })
    } finally {
      thumbnailer.close()
    }
  },
}
