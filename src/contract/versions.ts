import { action, endpoint } from './define.ts'
import { ofFile } from './headers.ts'
import { Count, Id, Mtime, Ok, Path, Sha256, Timestamp } from './shapes.ts'
import { Type } from './schema.ts'

const both = { session: true, device: true } as const
const oneVersion = Type.Object({
  path: Path,
  version_id: Type.Integer({ ...Id, description: '`version_id` from `list`.' }),
})

/** Earlier versions of files; they do not count towards the quota. */
export const versions = endpoint('/api/versions.php', {
  list: action({
    summary: 'Versions of a file, newest first. `version_id` 0 is the current content.',
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
    summary: 'Download an earlier version.',
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
    summary: 'Restore an earlier version. The current content becomes a version.',
    method: 'POST',
    auth: both,
    limit: 'fs_write',
    params: Type.Object({
      ...oneVersion.properties,
      if_sha256: Type.Optional({ ...Sha256, description: 'Precondition: SHA-256 of the current content.' }),
    }),
    result: Type.Object({ ok: Ok, path: Path, version: Count }),
    errors: ['bad_path', 'forbidden', 'not_found', 'quota_exceeded', 'precondition_failed'],
    example: { path: '/hello.txt', version_id: 1 },
  }),
})
