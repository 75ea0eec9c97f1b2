import { remove } from './delete.ts'
import { download } from './download.ts'
import { manifest } from './manifest.ts'
import { mkdir } from './mkdir.ts'
import { move } from './move.ts'
import { upload } from './upload.ts'

export const syncFilesHandlers = [manifest, download, upload, remove, mkdir, move]
