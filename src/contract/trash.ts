import { action, endpoint, none } from './define.ts'
import { Count, Id, Ok, Path, Timestamp } from './shapes.ts'
import { Type } from './schema.ts'

const both = { session: true, device: true } as const

/** Deleted files that can be restored; they do not count towards the quota. */
export const trash = endpoint('/api/trash.php', {
  list: action({
    summary: 'Contents of the trash, newest first.',
    method: 'GET',
    auth: both,
    limit: 'none',
    params: none,
    result: Type.Object({
      ok: Ok,
      items: Type.Array(
        Type.Object({
          id: Id,
          path: Path,
          name: Type.String(),
          type: Type.Union([Type.Literal('file'), Type.Literal('directory')]),
          size: Count,
          sha256: Type.Optional(Type.String({ description: 'Of a file.' })),
          deleted_at: Timestamp,
          expires_at: Timestamp,
        }),
      ),
    }),
    errors: [],
    example: {},
  }),
  restore: action({
    summary: 'Restore an entry to its original path or to another one.',
    method: 'POST',
    auth: both,
    limit: 'fs_write',
    params: Type.Object({ id: Id, to: Type.Optional(Path) }),
    result: Type.Object({ ok: Ok, path: Path }),
    errors: ['not_found', 'exists', 'bad_path', 'forbidden', 'cross_domain', 'quota_exceeded', 'too_many_files'],
    example: { id: 1 },
  }),
  delete: action({
    summary: 'Delete an entry permanently.',
    method: 'POST',
    auth: both,
    limit: 'fs_write',
    params: Type.Object({ id: Id }),
    result: Type.Object({ ok: Ok }),
    errors: ['not_found'],
    example: { id: 1 },
  }),
  empty: action({
    summary: 'Delete everything in the trash permanently.',
    method: 'POST',
    auth: both,
    limit: 'fs_write',
    params: none,
    result: Type.Object({ ok: Ok, deleted: Count }),
    errors: [],
    example: {},
  }),
})
