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
