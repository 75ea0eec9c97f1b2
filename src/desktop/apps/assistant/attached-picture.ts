import { ASSISTANT_IMAGE } from '../../../contract/limits.ts'

/** A picture that goes with a question. */
export interface Picture {
  name: string
  /** As it is sent. */
  base64: string
  /** To be shown in this page; `forget` ends it. */
  url: string
}

/** Why a file is no picture to be looked at. */
export type PictureProblem = 'no_picture' | 'picture_too_large' | 'picture_unread'

/** How the pictures begin that models look at: PNG, JPEG, and both kinds of GIF, in Latin-1. */
const SIGNATURES = ['\x89PNG\r\n\x1a\n', '\xff\xd8\xff', 'GIF87a', 'GIF89a']

async function isPicture(file: Blob): Promise<boolean> {
  const bytes = new Uint8Array(await file.slice(0, 12).arrayBuffer())
  const text = String.fromCharCode(...bytes)
  // RIFF is the beginning of sounds and films too.
  return SIGNATURES.some((start) => text.startsWith(start)) || (text.startsWith('RIFF') && text.endsWith('WEBP'))
}

const base64Of = (file: Blob): Promise<string> =>
  new Promise((resolve, reject) => {
    const reader = new FileReader()
    reader.addEventListener('load', () => resolve((reader.result as string).replace(/^[^,]*,/, '')))
    reader.addEventListener('error', () => reject(reader.error!))
    reader.readAsDataURL(file)
  })

/** Reads a picture, by what its bytes say and not by its name; or says why it is none. */
export async function readPicture(file: File): Promise<Picture | PictureProblem> {
  try {
    if (!(await isPicture(file))) return 'no_picture'
    if (file.size > ASSISTANT_IMAGE) return 'picture_too_large'
    return { name: file.name, base64: await base64Of(file), url: URL.createObjectURL(file) }
  } catch {
    // A folder, or a file that went away meanwhile.
    return 'picture_unread'
  }
}

/** Lets go of a picture that is shown no more. */
export const release = ({ url }: Picture): void => URL.revokeObjectURL(url)
