import { splitName } from './paths.ts'

/** How a file is shown; `other` can only be downloaded. */
export type Kind = 'directory' | 'image' | 'text' | 'markdown' | 'audio' | 'video' | 'pdf' | 'other'

const TEXTS = new Set(
  '.txt .log .csv .tsv .json .xml .yml .yaml .toml .ini .cfg .conf .env .sh .bash .py .js .mjs .cjs .ts .tsx .jsx .css .html .htm .sql .c .h .cpp .hpp .rs .go .java .kt .rb .php .pl .lua .tex .srt .vtt .ics .vcf .diff .patch .svg'.split(
    ' ',
  ),
)
/** Image types that browsers can show. */
const IMAGES = new Set(
  'image/png image/jpeg image/gif image/webp image/avif image/bmp image/svg+xml image/x-icon'.split(' '),
)

export interface FileInfo {
  name: string
  type: 'file' | 'directory'
  mime?: string
}

export function kindOf({ name, type, mime = '' }: FileInfo): Kind {
  if (type === 'directory') return 'directory'
  const ending = splitName(name)[1].toLowerCase()
  if (IMAGES.has(mime)) return 'image'
  if (mime === 'application/pdf') return 'pdf'
  if (ending === '.md' || ending === '.markdown') return 'markdown'
  // Some tables map `.ts` to a video type; here it is TypeScript.
  if (TEXTS.has(ending) || mime.startsWith('text/')) return 'text'
  if (mime.startsWith('audio/')) return 'audio'
  if (mime.startsWith('video/')) return 'video'
  return 'other'
}
