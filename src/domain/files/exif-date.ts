/** Bytes at the beginning of a JPEG that hold its EXIF data: one segment of at most 64 KiB, after a few small ones. */
export const EXIF_WITHIN = 128 * 1_024

const [IFD_POINTER, MODIFIED, TAKEN] = [0x8769, 0x0132, 0x9003]
const DATE = /^(\d{4}):([01]\d):([0-3]\d) ([0-2]\d):([0-5]\d):([0-5]\d)/

/** The TIFF structure in the APP1 segment of a JPEG. */
function exifOf(image: Buffer): Buffer | undefined {
  if (image.readUInt16BE(0) !== 0xffd8) return undefined
  for (let at = 2; image[at] === 0xff && image[at + 1] !== 0xda; at += 2 + image.readUInt16BE(at + 2)) {
    const isExif = image[at + 1] === 0xe1 && image.toString('latin1', at + 4, at + 10) === 'Exif\0\0'
    if (isExif) return image.subarray(at + 10, at + 2 + image.readUInt16BE(at + 2))
  }
  return undefined
}

function dateIn(tiff: Buffer): string | undefined {
  const isLittle = tiff.toString('latin1', 0, 2) === 'II'
  const short = (at: number) => (isLittle ? tiff.readUInt16LE(at) : tiff.readUInt16BE(at))
  const long = (at: number) => (isLittle ? tiff.readUInt32LE(at) : tiff.readUInt32BE(at))
  /** Where the value of a tag in a directory is written. */
  const find = (directory: number, tag: number): number | undefined => {
    for (let entry = 0; entry < short(directory); entry++) {
      const at = directory + 2 + entry * 12
      if (short(at) === tag) return at + 8
    }
    return undefined
  }
  const main = long(4)
  const pointer = find(main, IFD_POINTER)
  const place = (pointer === undefined ? undefined : find(long(pointer), TAKEN)) ?? find(main, MODIFIED)
  if (place === undefined) return undefined
  const [, year, month, day, hour, minute, second] =
    DATE.exec(tiff.toString('latin1', long(place), long(place) + 19)) ?? []
  const text = `${year}-${month}-${day}T${hour}:${minute}:${second}`
  return Number.isNaN(Date.parse(text)) || year === '0000' ? undefined : text
}

/** When a JPEG was taken, as its camera wrote it: a date and time without a zone (EXIF 3.0, 4.6.5). */
export function exifDate(image: Buffer): string | undefined {
  try {
    const tiff = exifOf(image)
    return tiff && dateIn(tiff)
  } catch {
    // An offset outside the data.
    return undefined
  }
}
