import { Type } from 'typebox'
import { action, endpoint, none } from './define.ts'
import { ofFile } from './headers.ts'
import { BATCH_BODY } from './limits.ts'
import { Count, Cursor, Epoch, FileState, Mtime, Ok, Path, ServerId, Sha256 } from './shapes.ts'

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
      description: 'With `precondition_failed`: what the file is, if there is one.',
    }),
  ),
})
const results = Type.Array(Outcome, { description: 'What each entry came to, in the order of the request.' })
const outcomes = Type.Object({ ok: Ok, results, cursor: Cursor })

/** Compare-and-swap: what the file must be for the change to happen. `If-Match` and `If-None-Match: *` say the same. */
const ifSha256 = { if_sha256: Type.Optional(Sha256) }
const ifAbsent = { if_absent: Type.Optional(Type.Boolean({ description: 'Only when no such file exists.' })) }

export const syncFiles = endpoint('/api/sync/files.php', {
  manifest: action({
    summary: 'Every file and folder of the caller. Answers 304 to a matching If-None-Match.',
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
    summary: 'The content of a file, with X-File-SHA256 and X-File-MTime; honours Range, If-Range and HEAD.',
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
      'Store a file: multipart/form-data with a part `file`, or the raw body. Creates missing parents; replaces.',
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
    summary: 'Delete a file, or a folder with everything in it; it stays restorable.',
    method: 'POST',
    auth: { device: true },
    limit: 'sync_delete',
    params: Type.Object({
      path: Path,
      ...ifSha256,
      if_empty: Type.Optional(Type.Boolean({ description: 'Only a folder with nothing in it.' })),
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
      'Store the files and folders of a tar archive (pax, application/x-tar), each done or refused on its own. Keys of an entry: `SVC.sha256`, `SVC.if_sha256` (a hash, or `absent`). What came before a broken end is stored.',
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
      'Many files as one tar archive with the key `SVC.sha256`; its last entry `.svc-end.json` says how many there are and which paths were refused, and an archive without it was cut short.',
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
    summary: 'Delete, make and move many files and folders in order, each done or refused on its own.',
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
          if_empty: Type.Optional(Type.Boolean({ description: 'Delete only a folder with nothing in it.' })),
        }),
      ),
    }),
    maxBody: BATCH_BODY,
    result: outcomes,
    errors: ['too_many_operations'],
    example: { operations: [{ op: 'move', from: '/hello.txt', to: '/greetings/hello.txt' }] },
  }),
})
