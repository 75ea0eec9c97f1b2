import { archive } from './archive.ts'
import { copy } from './copy.ts'
import { erase } from './delete.ts'
import { download } from './download.ts'
import { list } from './list.ts'
import { mkdir } from './mkdir.ts'
import { move } from './move.ts'
import { photos } from './photos.ts'
import { quota } from './quota.ts'
import { read } from './read.ts'
import { thumbnail } from './thumbnail.ts'
import { trash } from './trash.ts'
import { upload } from './upload.ts'
import { write } from './write.ts'

export const filesystemHandlers = [
  list,
  read,
  write,
  mkdir,
  erase,
  trash,
  move,
  copy,
  upload,
  download,
  thumbnail,
  photos,
  archive,
  quota,
]
