import {
  BookOpen,
  CalendarDays,
  ContactRound,
  File,
  FileArchive,
  FileAudio,
  FileCode,
  FileImage,
  FileSpreadsheet,
  FileText,
  FileType,
  FileVideo,
  Folder,
  Mail,
  Presentation,
  type IconNode,
} from 'lucide'
import { Icon } from '../../kit/icon.tsx'
import { useThumbnail, type PictureFile, type ThumbnailSize } from '../../kit/picture-thumbnail.ts'
import { kindOf, type FileInfo, type Kind } from './file-kinds.ts'

const icons: Record<Kind, IconNode> = {
  directory: Folder,
  image: FileImage,
  text: FileText,
  markdown: FileText,
  audio: FileAudio,
  video: FileVideo,
  pdf: FileText,
  other: File,
}

/** What people call a kind of file although it opens like others: a colour in `files.css`, an icon, its endings. */
const formats: readonly [string, IconNode, RegExp][] = [
  ['code', FileCode, /\.(json|xml|ya?ml|toml|sh|py|[cm]?[jt]sx?|css|html?|sql|c|h|cpp|rs|go|java|php|rb)$/i],
  ['sheet', FileSpreadsheet, /\.(xlsx?|ods|csv|tsv|numbers)$/i],
  ['slides', Presentation, /\.(pptx?|odp|key)$/i],
  ['document', FileText, /\.(docx?|odt|rtf|pages)$/i],
  ['book', BookOpen, /\.(epub|mobi)$/i],
  ['archive', FileArchive, /\.(zip|gz|tar|tgz|bz2|xz|7z|rar|zst)$/i],
  ['image', FileImage, /\.(heic|tiff?|psd)$/i],
  ['calendar', CalendarDays, /\.ics$/i],
  ['contact', ContactRound, /\.vcf$/i],
  ['mail', Mail, /\.eml$/i],
  ['font', FileType, /\.(woff2?|ttf|otf)$/i],
]

/** The icon of an item, in the colour of its format. */
export function FileIcon({ of, size }: { of: FileInfo; size: number }) {
  const kind = kindOf(of)
  const known = kind === 'directory' ? undefined : formats.find(([, , endings]) => endings.test(of.name))
  return (
    <span class={`picture look-${known?.[0] ?? kind}`}>
      <Icon of={known?.[1] ?? icons[kind]} size={size} />
    </span>
  )
}

/** An image as a thumbnail; until it is there, and for other files, the icon. */
export function FilePicture({
  of,
  file,
  size,
  edge,
}: {
  of: FileInfo
  file: PictureFile
  size: number
  edge: ThumbnailSize
}) {
  const url = useThumbnail(kindOf(of) === 'image' ? file : undefined, edge)
  if (!url) return <FileIcon of={of} size={size} />
  return (
    <span class="picture">
      <img class="thumbnail" src={url} alt="" draggable={false} />
    </span>
  )
}
