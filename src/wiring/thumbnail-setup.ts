import { THUMBNAIL } from '../contract/limits.ts'
import { makeThumbnails } from '../domain/files/files.ts'
import type { Settings } from '../domain/instance/instance.ts'
import { makeThumbnailer } from '../outside/thumbnailer.ts'
import type { Contents } from '../storage/contents/contents.ts'
import { makeThumbnailCache } from '../storage/contents/thumbnail-cache.ts'
import { thumbnailFolder, type DataDirectory } from './installation/data-directory.ts'

/** Thumbnails, and the end of the processes that make them. No process starts before the first one is wanted. */
export function openThumbnails(directory: DataDirectory, contents: Contents, settings: Pick<Settings, 'values'>) {
  const thumbnailer = makeThumbnailer({ pixels: THUMBNAIL.max_pixels })
  const limit = async () => (await settings.values())['thumbnails.max_bytes']
  const cache = makeThumbnailCache(thumbnailFolder(directory), limit)
  const isOn = async () => (await limit()) !== 0
  return { thumbnails: makeThumbnails({ contents, thumbnailer, cache, isOn }), close: thumbnailer.close }
}
