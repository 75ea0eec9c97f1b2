import { signal } from '@preact/signals'
import { bridge } from '../../kit/bridge.ts'
import { place, type Item } from './folder.ts'
import { nameOf } from './paths.ts'

export interface Photo {
  path: string
  /** The file as in a listing of its folder. */
  item: Item
  /** Without a time zone if the camera wrote it: a local time. */
  taken: string
}

/** Delay until dates that were still being read are asked for, ms. */
const MORE_DATES = 1_500

/** All own images, the newest first; undefined until they are loaded. */
export const photos = signal<readonly Photo[] | undefined>(undefined)
export const photosError = signal<unknown>(undefined)

let more: ReturnType<typeof setTimeout> | undefined

export async function loadPhotos(): Promise<void> {
  try {
    const { photos: all, complete } = await bridge.call('filesystem.photos', {})
    photos.value = all.map(({ path, taken, ...rest }) => ({
      path,
      taken,
      item: { ...rest, name: nameOf(path), type: 'file' },
    }))
    photosError.value = undefined
    clearTimeout(more)
    if (!complete && place.peek() === 'photos') more = setTimeout(() => void loadPhotos(), MORE_DATES)
  } catch (error) {
    photosError.value = error
  }
}
