/** Width and height of icons, pixels: sharp at the largest size even on high-density screens. */
const SIDE = 128

/** Longest URL of an icon, characters. */
const MAX_URL_LENGTH = 100_000

/** Scales an image file to a small `data:` URL. Throws if it is not an image. */
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
