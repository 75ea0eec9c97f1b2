import { remove } from './delete.ts'
import { downloadBatch } from './download-batch.ts'
import { download } from './download.ts'
import { filesBatch } from './files-batch.ts'
import { manifest } from './manifest.ts'
import { mkdir } from './mkdir.ts'
import { move } from './move.ts'
import { uploadBatch } from './upload-batch.ts'
import { upload } from './upload.ts'

export const syncFilesHandlers = [
  manifest,
  download,
  upload,
  remove,
  mkdir,
  move,
  uploadBatch,
  downloadBatch,
  filesBatch,
]
