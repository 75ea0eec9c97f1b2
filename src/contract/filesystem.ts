import { action, endpoint, none } from './define.ts'
import { ofFile } from './headers.ts'
import { ARCHIVE, THUMBNAIL } from './limits.ts'
import { Count, Ok, Path, Sha256, Timestamp } from './shapes.ts'
import { Type } from './schema.ts'

const both = { session: true, device: true } as const

const Item = Type.Object({
  name: Type.String(),
  type: Type.Union([Type.Literal('file'), Type.Literal('directory')]),
  size: Type.Optional(Count),
  modified: Timestamp,
  mime: Type.Optional(Type.String()),
  id: Type.Optional(
    Type.Integer({
      minimum: 0,
      description: 'Only with `ids`: a stable ID, for `archive`.',
    }),
  ),
  tag: Type.Optional(
    Type.String({ description: 'Only with `ids`, of images: identifies the content, for `thumbnail`.' }),
  ),
})

const Photo = Type.Object({
  path: Type.String(),
  tag: Type.String({ description: 'Identifies the content, for `thumbnail`.' }),
  size: Count,
  mime: Type.String(),
  modified: Timestamp,
  taken: Type.String({
    description: 'When it was taken: as the camera wrote it (EXIF), without a time zone; otherwise `modified`.',
  }),
})

const onePath = Type.Object({ path: Path })
const twoPaths = Type.Object({ from: Path, to: Path })
const aboutPath = Type.Object({ ok: Ok, path: Path })
const ifAbsent = {
  if_absent: Type.Optional(Type.Boolean({ description: 'Precondition: nothing exists at the path.' })),
}
const aboutBoth = Type.Object({ ok: Ok, from: Path, to: Path })

/** Files for the desktop: the user's tree, and in `/Teamchat` the shared files of their rooms. */
/** `total` and `max_items` are 0 if unlimited. */
const Kept = Type.Object({ used: Count, total: Count, items: Count, max_items: Count })

export const filesystem = endpoint('/api/filesystem.php', {
  list: action({
    summary: 'Contents of a folder: folders first, then by name.',
    method: 'GET',
    auth: both,
    limit: 'none',
    params: Type.Object({
      path: Type.Optional(Path),
      ids: Type.Optional(Type.Boolean({ description: 'Whether items come with their `id`.' })),
    }),
    answers: 'large',
    result: Type.Object({ ok: Ok, items: Type.Array(Item), path: Path }),
    errors: ['bad_path', 'not_found'],
    example: { path: '/' },
  }),
  read: action({
    summary: 'Text of a file of at most 5 MiB. 415 if it is not UTF-8 text.',
    method: 'GET',
    auth: both,
    limit: 'none',
    params: onePath,
    answers: 'large',
    result: Type.Object({ ok: Ok, content: Type.String(), path: Path, sha256: Sha256 }),
    errors: ['bad_path', 'not_found', 'too_large', 'unsupported_media_type'],
    example: { path: '/hello.txt' },
  }),
  write: action({
    summary: 'Store a text. Creates or replaces the file, and creates missing parent folders.',
    method: 'POST',
    stores: true,
    auth: both,
    limit: 'fs_write',
    maxBody: 16 * 1_048_576,
    params: Type.Object({
      path: Path,
      content: Type.String(),
      if_sha256: Type.Optional({ ...Sha256, description: 'Precondition: SHA-256 of the current content.' }),
      ...ifAbsent,
    }),
    result: Type.Object({ ok: Ok, path: Path, sha256: Sha256 }),
    errors: [
      'bad_path',
      'forbidden',
      'not_found',
      'exists',
      'quota_exceeded',
      'too_large',
      'precondition_failed',
      'too_many_files',
    ],
    example: { path: '/notes/today.txt', content: 'Good morning' },
  }),
  mkdir: action({
    summary: 'Create a folder and its missing parents.',
    method: 'POST',
    auth: both,
    limit: 'fs_write',
    params: onePath,
    result: aboutPath,
    errors: ['bad_path', 'forbidden', 'not_found', 'exists', 'too_many_files'],
    example: { path: '/notes' },
  }),
  delete: action({
    summary: 'Delete a file, or a folder with everything in it, permanently.',
    method: 'POST',
    auth: both,
    limit: 'fs_write',
    params: onePath,
    result: aboutPath,
    errors: ['bad_path', 'not_found', 'forbidden'],
    example: { path: '/old.txt' },
  }),
  trash: action({
    summary: 'Move a file or a folder to the trash.',
    method: 'POST',
    auth: both,
    limit: 'fs_write',
    params: onePath,
    result: aboutPath,
    errors: ['bad_path', 'not_found', 'forbidden'],
    example: { path: '/old.txt' },
  }),
  move: action({
    summary: 'Move or rename; the target must not exist.',
    method: 'POST',
    auth: both,
    limit: 'fs_write',
    params: twoPaths,
    result: aboutBoth,
    errors: ['bad_path', 'forbidden', 'not_found', 'exists', 'cross_domain', 'too_many_files'],
    example: { from: '/hello.txt', to: '/greetings.txt' },
  }),
  copy: action({
    summary: 'Copy a file, or a folder with everything in it; the target must not exist.',
    method: 'POST',
    stores: true,
    auth: both,
    limit: 'fs_write',
    cost: 2,
    params: twoPaths,
    result: aboutBoth,
    errors: [
      'bad_path',
      'forbidden',
      'not_found',
      'exists',
      'cross_domain',
      'conflict',
      'quota_exceeded',
      'too_many_operations',
      'too_many_files',
    ],
    example: { from: '/hello.txt', to: '/hello again.txt' },
  }),
  upload: action({
    summary: 'Store a file of multipart/form-data (part `file`) in the folder `path` under its own name.',
    method: 'POST',
    stores: true,
    auth: both,
    limit: 'fs_write',
    params: Type.Object({ path: Path, ...ifAbsent }),
    sends: 'bytes',
    accepts: ['multipart/form-data'],
    result: Type.Object({ ok: Ok, path: Path, size: Count }),
    errors: [
      'bad_path',
      'forbidden',
      'exists',
      'not_found',
      'quota_exceeded',
      'too_many_files',
      'too_large',
      'disk_full',
      'precondition_failed',
    ],
    example: { path: '/' },
  }),
  download: action({
    summary: 'Download a file. Supports Range and HEAD.',
    method: 'GET',
    auth: both,
    limit: 'none',
    params: onePath,
    answers: 'bytes',
    ...ofFile,
    result: Type.Unsafe<Uint8Array>({ type: 'string', format: 'binary' }),
    errors: ['bad_path', 'not_found', 'range_not_satisfiable'],
    example: { path: '/hello.txt' },
  }),
  thumbnail: action({
    summary: `Thumbnail of an image as WebP. Of files of at most ${THUMBNAIL.max_bytes / 1_048_576} MiB and ${THUMBNAIL.max_pixels / 1_000_000} million pixels. 415 if the file is not an image, or none that a thumbnail can be made of. 501 if the server makes none. Supports HEAD.`,
    method: 'GET',
    auth: both,
    limit: 'none',
    params: Type.Object({
      path: Path,
      size: Type.Unsafe<(typeof THUMBNAIL.sizes)[number]>({
        type: 'integer',
        enum: THUMBNAIL.sizes,
        description: 'Longest edge in pixels. Smaller images keep their size.',
      }),
      tag: Type.Optional(
        Type.String({
          pattern: '^[0-9a-f]{16}$',
          description: '`tag` of `list`. If it is still that of the file, the response may be cached for good.',
        }),
      ),
    }),
    answers: 'bytes',
    takesHeaders: ['ifNoneMatch'],
    answersHeaders: ['ETag'],
    result: Type.Unsafe<Uint8Array>({ type: 'string', contentMediaType: 'image/webp' }),
    errors: ['bad_path', 'not_found', 'too_large', 'unsupported_media_type', 'thumbnails_unavailable'],
    example: { path: '/picture.png', size: 256 },
  }),
  photos: action({
    summary: 'Own images of all folders, the newest first.',
    method: 'GET',
    auth: both,
    limit: 'none',
    cost: 2,
    params: none,
    answers: 'large',
    result: Type.Object({
      ok: Ok,
      photos: Type.Array(Photo),
      complete: Type.Boolean({ description: 'False while dates are still being read: ask again for the others.' }),
    }),
    errors: [],
    example: {},
  }),
  archive: action({
    summary:
      'Download a folder, or chosen items of it, as an uncompressed ZIP archive with Content-Length. Supports HEAD. The response is aborted if a file cannot be read.',
    method: 'GET',
    auth: both,
    limit: 'fs_archive',
    cost: 20,
    params: Type.Object({
      path: Path,
      ids: Type.Optional(
        Type.String({
          pattern: '^[0-9]{1,15}(\\.[0-9]{1,15})*$',
          description: `\`id\`s of items that \`list\` tells of the folder, with dots between them; at most ${ARCHIVE.max_chosen}.`,
        }),
      ),
    }),
    answers: 'bytes',
    answersHeaders: ['Content-Disposition'],
    result: Type.Unsafe<Uint8Array>({ type: 'string', contentMediaType: 'application/zip' }),
    errors: ['bad_path', 'not_found', 'too_many_operations'],
    example: { path: '/' },
  }),
  quota: action({
    summary: 'Bytes used and allowed; `total` 0 means unlimited.',
    method: 'GET',
    auth: both,
    limit: 'none',
    params: none,
    result: Type.Object({
      ok: Ok,
      used: Count,
      total: Count,
      percent: Count,
      used_formatted: Type.String(),
      total_formatted: Type.String(),
      data: Type.Record(Type.String(), Kept, {
        description: 'Usage in addition to files, by kind: rows, chat, components, assistant.',
      }),
    }),
    errors: [],
    example: {},
  }),
})
