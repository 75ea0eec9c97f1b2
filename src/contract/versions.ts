import { Type } from 'typebox'
import { action, endpoint } from './define.ts'
import { ofFile } from './headers.ts'
import { Count, Id, Mtime, Ok, Path, Sha256, Timestamp } from './shapes.ts'

const both = { session: true, device: true } as const
const oneVersion = Type.Object({
  path: Path,
  version_id: Type.Integer({ ...Id, description: '`version_id` that `list` tells of the file.' }),
})

/** Earlier contents of files; they count towards no quota. */
export const versions = endpoint('/api/versions.php', {
  list: action({
    summary: 'The contents a file has and had, newest first; `version_id` 0 is the present one.',
    method: 'GET',
    auth: both,
    limit: 'none',
    params: Type.Object({ path: Path }),
    result: Type.Object({
      ok: Ok,
      path: Path,
      versions: Type.Array(
        Type.Object({
          version_id: Count,
          size: Count,
          sha256: Sha256,
          mtime: Mtime,
          created_at: Timestamp,
          current: Type.Boolean(),
        }),
      ),
    }),
    errors: ['bad_path', 'forbidden', 'not_found'],
    example: { path: '/hello.txt' },
  }),
  download: action({
    summary: 'An earlier content.',
    method: 'GET',
    auth: both,
    limit: 'none',
    params: oneVersion,
    answers: 'bytes',
    ...ofFile,
    result: Type.Unsafe<Uint8Array>({ type: 'string', format: 'binary' }),
    errors: ['bad_path', 'forbidden', 'not_found', 'range_not_satisfiable'],
    example: { path: '/hello.txt', version_id: 1 },
  }),
  restore: action({
    summary: 'Make an earlier content the present one; the present one becomes a version.',
    method: 'POST',
    auth: both,
    limit: 'fs_write',
    params: Type.Object({
      ...oneVersion.properties,
      if_sha256: Type.Optional({ ...Sha256, description: 'Only while this is the present content.' }),
    }),
    result: Type.Object({ ok: Ok, path: Path, version: Count }),
    errors: ['bad_path', 'forbidden', 'not_found', 'quota_exceeded', 'precondition_failed'],
    example: { path: '/hello.txt', version_id: 1 },
  }),
})
