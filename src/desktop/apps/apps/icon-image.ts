/** Pixels of each side; four times what the largest tile needs on a common screen, less on a fine one. */
const SIDE = 128

/** Characters of an address of a picture. */
const MAX_URL_LENGTH = 100_000

/** A picture from a file as a small `data:` URL. Throws for what is no picture. */
export async function iconFrom(file: Blob): Promise<string> {
  const image = await createImageBitmap(file)
  const canvas = document.createElement('canvas')
  canvas.width = SIDE
  canvas.height = SIDE
  const scale = Math.min(SIDE / image.width, SIDE / image.height)
  const [width, height] = [image.width * scale, image.height * scale]
  canvas.getContext('2d')!.drawImage(image, (SIDE - width) / 2, (SIDE - height) / 2, width, height)
  image.close()
  const url = canvas.toDataURL('image/png')
  return url.length <= MAX_URL_LENGTH ? url : canvas.toDataURL('image/webp', 0.8)
}
