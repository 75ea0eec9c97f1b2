import { createRequire } from 'node:module'
import { crc32, deflateSync } from 'node:zlib'

/** Whether this checkout can make thumbnails: the package is optional. */
export const hasSharp = (() => {
  try {
    return createRequire(import.meta.url).resolve('sharp') !== ''
  } catch {
    return false
  }
})()

function chunk(name: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(name, 'latin1'), data])
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)]
  length.writeUInt32BE(data.length)
  sum.writeUInt32BE(crc32(body))
  return Buffer.concat([length, body, sum])
}

/** A PNG of one colour; `told` is the size that its header tells. */
export function png(
  width: number,
  height: number,
  colour: readonly number[] = [200, 60, 30],
  told = [width, height],
): Buffer {
  const head = Buffer.alloc(13)
  head.writeUInt32BE(told[0]!)
  head.writeUInt32BE(told[1]!, 4)
  head.set([8, 2], 8)
  const row = Buffer.alloc(1 + width * 3)
  for (let at = 1; at < row.length; at += 3) row.set(colour, at)
  const pixels = Buffer.concat(Array.from({ length: height }, () => row))
  const parts = [chunk('IHDR', head), chunk('IDAT', deflateSync(pixels)), chunk('IEND', Buffer.alloc(0))]
  return Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), ...parts])
}

/** The beginning of a JPEG whose EXIF data tells when it was taken. */
export function jpegOf(taken: string): Buffer {
  const tiff = Buffer.alloc(64)
  tiff.write('II*\0', 'latin1')
  // One directory that points to another at 26, which has the date at 44.
  const entry = (at: number, tag: number, type: number, count: number, value: number) => {
    tiff.writeUInt16LE(1, at)
    tiff.writeUInt16LE(tag, at + 2)
    tiff.writeUInt16LE(type, at + 4)
    tiff.writeUInt32LE(count, at + 6)
    tiff.writeUInt32LE(value, at + 10)
  }
  tiff.writeUInt32LE(8, 4)
  entry(8, 0x8769, 4, 1, 26)
  entry(26, 0x9003, 2, 20, 44)
  tiff.write(taken, 44, 'latin1')
  const length = Buffer.alloc(2)
  length.writeUInt16BE(2 + 6 + tiff.length)
  return Buffer.concat([Buffer.from('ffd8ffe1', 'hex'), length, Buffer.from('Exif\0\0', 'latin1'), tiff])
}

/** Width and height of a lossy WebP without transparency. */
export const webpSize = (image: Buffer): [number, number] => [
  image.readUInt16LE(26) & 0x3fff,
  image.readUInt16LE(28) & 0x3fff,
]

/** An SVG whose elements refer to each other, 10 ** 12 of them. */
export const svgBomb = (): string => {
  const level = (at: number) =>
    `<g id="g${at}">${Array.from({ length: 10 }, () => `<use href="#g${at - 1}"/>`).join('')}</g>`
  const levels = Array.from({ length: 12 }, (_, at) => level(at + 1)).join('')
  return `<svg xmlns="http://www.w3.org/2000/svg" width="100" height="100"><defs><rect id="g0" width="9" height="9"/>${levels}</defs><use href="#g12"/></svg>`
}
