import { ASSISTANT_IMAGE } from '../../../contract/limits.ts'

/** An image attached to a question. */
export interface Picture {
  name: string
  /** The file content. */
  base64: string
  /** Object URL; `release` revokes it. */
  url: string
}

export type PictureProblem = 'no_picture' | 'picture_too_large' | 'picture_unread'

/** Signatures of formats that models accept: PNG, JPEG and GIF, in Latin-1. */
const SIGNATURES = ['\x89PNG\r\n\x1a\n', '\xff\xd8\xff', 'GIF87a', 'GIF89a']

async function isPicture(file: Blob): Promise<boolean> {
  const bytes = new Uint8Array(await file.slice(0, 12).arrayBuffer())
  const text = String.fromCharCode(...bytes)
  // RIFF is also a container for audio and video: check for WebP.
  return SIGNATURES.some((start) => text.startsWith(start)) || (text.startsWith('RIFF') && text.endsWith('WEBP'))
}

const base64Of = (file: Blob): Promise<string> =>
  new Promise((resolve, reject) => {
    const reader = new FileReader()
    reader.addEventListener('load', () => resolve((reader.result as string).replace(/^[^,]*,/, '')))
    reader.addEventListener('error', () => reject(reader.error!))
    reader.readAsDataURL(file)
  })

/** Reads an image; the type is detected from its content. */
export async function readPicture(file: File): Promise<Picture | PictureProblem> {
  try {
    if (!(await isPicture(file))) return 'no_picture'
    if (file.size > ASSISTANT_IMAGE) return 'picture_too_large'
    return { name: file.name, base64: await base64Of(file), url: URL.createObjectURL(file) }
  } catch {
    // A folder, or a deleted file.
    return 'picture_unread'
  }
}

export const release = ({ url }: Picture): void => URL.revokeObjectURL(url)
