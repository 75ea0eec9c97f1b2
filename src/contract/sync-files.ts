import { action, endpoint, none } from './define.ts'
import { ofFile } from './headers.ts'
import { BATCH_BODY } from './limits.ts'
import { Count, Cursor, Epoch, FileState, Mtime, Ok, Path, ServerId, Sha256 } from './shapes.ts'
import { Type } from './schema.ts'

const Entry = Type.Object({ path: Path, size: Count, sha256: Sha256, mtime: Mtime })

const Outcome = Type.Object({
  index: Count,
  path: Type.String(),
  ok: Type.Boolean(),
  status: Count,
  code: Type.Optional(Type.String()),
  error: Type.Optional(Type.String()),
  current: Type.Optional(
    Type.Union([FileState, Type.Null()], {
      description: 'With `precondition_failed`: the current file, if there is one.',
    }),
  ),
})
const results = Type.Array(Outcome, { description: 'Results in the order of the request.' })
const outcomes = Type.Object({ ok: Ok, results, cursor: Cursor })

/** Compare-and-swap: the expected state of the file. Equivalent to `If-Match` and `If-None-Match: *`. */
const ifSha256 = { if_sha256: Type.Optional(Sha256) }
const ifAbsent = { if_absent: Type.Optional(Type.Boolean({ description: 'Precondition: the file does not exist.' })) }

export const syncFiles = endpoint('/api/sync/files.php', {
  manifest: action({
    summary: 'All files and folders of the caller. 304 if If-None-Match matches.',
    method: 'GET',
    auth: { device: true },
    limit: 'sync_manifest',
    cost: 10,
    params: none,
    answers: 'bytes',
    takesHeaders: ['ifNoneMatch'],
    answersHeaders: ['ETag'],
    result: Type.Object({
      ok: Ok,
      files: Type.Array(Entry),
      directories: Type.Array(Path),
      cursor: Cursor,
      epoch: Epoch,
      server_id: ServerId,
    }),
    errors: [],
    example: {},
  }),
  download: action({
    summary: 'Download a file, with X-File-SHA256 and X-File-MTime. Supports Range, If-Range and HEAD.',
    method: 'GET',
    auth: { device: true },
    limit: 'sync_download',
    params: Type.Object({ path: Path }),
    answers: 'bytes',
    ...ofFile,
    result: Type.Unsafe<Uint8Array>({ type: 'string', format: 'binary' }),
    errors: ['bad_path', 'not_found', 'range_not_satisfiable'],
    example: { path: '/hello.txt' },
  }),
  upload: action({
    summary:
      'Store a file: multipart/form-data with a part `file`, or the raw body. Replaces the file, and creates missing parent folders.',
    method: 'POST',
    stores: true,
    auth: { device: true },
    limit: 'sync_upload',
    params: Type.Object({ path: Path, mtime: Type.Optional(Mtime), ...ifSha256, ...ifAbsent }),
    sends: 'bytes',
    accepts: ['application/octet-stream', 'multipart/form-data'],
    takesHeaders: ['ifMatch', 'ifAbsent', 'contentSha256'],
    result: Type.Object({ ok: Ok, path: Path, ...FileState.properties, cursor: Cursor }),
    errors: [
      'bad_path',
      'exists',
      'precondition_failed',
      'quota_exceeded',
      'too_many_files',
      'too_large',
      'checksum_mismatch',
      'disk_full',
    ],
    example: { path: '/notes/new.txt', mtime: 1_700_000_000 },
  }),
  delete: action({
    summary: 'Delete a file, or a folder with everything in it. It can be restored from the trash.',
    method: 'POST',
    auth: { device: true },
    limit: 'sync_delete',
    params: Type.Object({
      path: Path,
      ...ifSha256,
      if_empty: Type.Optional(Type.Boolean({ description: 'Precondition: the folder is empty.' })),
    }),
    result: Type.Object({
      ok: Ok,
      path: Path,
      deleted: Type.Optional(Ok),
      already_deleted: Type.Optional(Ok),
    }),
    takesHeaders: ['ifMatch'],
    errors: ['bad_path', 'precondition_failed', 'conflict', 'not_empty'],
    example: { path: '/old.txt' },
  }),
  mkdir: action({
    summary: 'Create a folder and its missing parents.',
    method: 'POST',
    auth: { device: true },
    limit: 'sync_mkdir',
    params: Type.Object({ path: Path }),
    result: Type.Object({ ok: Ok, path: Path, created: Type.Boolean() }),
    errors: ['bad_path', 'exists', 'too_many_files'],
    example: { path: '/notes' },
  }),
  move: action({
    summary: 'Move or rename a file or a folder; the target must not exist.',
    method: 'POST',
    auth: { device: true },
    limit: 'sync_move',
    params: Type.Object({ from: Path, to: Path, ...ifSha256 }),
    takesHeaders: ['ifMatch'],
    result: Type.Object({ ok: Ok, from: Path, to: Path }),
    errors: ['bad_path', 'not_found', 'exists', 'precondition_failed', 'too_many_files'],
    example: { from: '/hello.txt', to: '/greetings/hello.txt' },
  }),
  upload_batch: action({
    summary:
      'Store the files and folders of a tar archive (pax, application/x-tar), each accepted or refused independently. Keys of an entry: `SVC.sha256`, `SVC.if_sha256` (a hash, or `absent`). If the archive breaks off, the complete entries before are stored.',
    method: 'POST',
    stores: true,
    auth: { device: true },
    limit: 'sync_upload_batch',
    params: none,
    sends: 'bytes',
    accepts: ['application/x-tar'],
    result: outcomes,
    failureFields: { results: Type.Optional(results) },
    errors: ['too_many_operations', 'too_large', 'unsupported_media_type', 'disk_full'],
    example: {},
  }),
  download_batch: action({
    summary:
      'Many files as one tar archive with the key `SVC.sha256`. The last entry, `.svc-end.json`, contains the number of files and the refused paths. An archive without it is incomplete.',
    method: 'POST',
    reads: true,
    auth: { device: true },
    limit: 'sync_download_batch',
    params: Type.Object({ paths: Type.Array(Type.String()) }),
    maxBody: BATCH_BODY,
    answers: 'bytes',
    result: Type.Unsafe<Uint8Array>({ type: 'string', contentMediaType: 'application/x-tar' }),
    errors: ['too_many_operations'],
    example: { paths: ['/hello.txt'] },
  }),
  files_batch: action({
    summary: 'Delete, create and move many files and folders in order. Each operation succeeds or fails independently.',
    method: 'POST',
    auth: { device: true },
    limit: 'sync_files_batch',
    params: Type.Object({
      operations: Type.Array(
        Type.Object({
          op: Type.String({ description: '`delete`, `mkdir` (both with `path`) or `move` (with `from` and `to`).' }),
          path: Type.Optional(Type.String()),
          from: Type.Optional(Type.String()),
          to: Type.Optional(Type.String()),
          if_sha256: Type.Optional(Type.String()),
          if_empty: Type.Optional(Type.Boolean({ description: 'Precondition of `delete`: the folder is empty.' })),
        }),
      ),
    }),
    maxBody: BATCH_BODY,
    result: outcomes,
    errors: ['too_many_operations'],
    example: { operations: [{ op: 'move', from: '/hello.txt', to: '/greetings/hello.txt' }] },
  }),
})
