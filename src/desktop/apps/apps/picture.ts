/** Pixels of each side; four times what the largest tile needs on a common screen, less on a fine one. */
const SIDE = 128

/** Characters of an address of a picture. */
const LONGEST = 100_000

/** A picture from a file as a small `data:` URL. Throws for what is no picture. */
export async function pictureFrom(file: Blob): Promise<string> {
  const picture = await createImageBitmap(file)
  const canvas = document.createElement('canvas')
  canvas.width = SIDE
  canvas.height = SIDE
  const scale = Math.min(SIDE / picture.width, SIDE / picture.height)
  const [width, height] = [picture.width * scale, picture.height * scale]
  canvas.getContext('2d')!.drawImage(picture, (SIDE - width) / 2, (SIDE - height) / 2, width, height)
  picture.close()
  const url = canvas.toDataURL('image/png')
  return url.length <= LONGEST ? url : canvas.toDataURL('image/webp', 0.8)
}
