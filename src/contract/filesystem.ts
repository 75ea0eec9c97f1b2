import { Type } from 'typebox'
import { action, endpoint, none } from './define.ts'
import { Count, Ok, Path, Timestamp } from './shapes.ts'

const Item = Type.Object({
  name: Type.String(),
  type: Type.Union([Type.Literal('file'), Type.Literal('directory')]),
  size: Type.Optional(Count),
  modified: Timestamp,
  mime: Type.Optional(Type.String()),
})

export const filesystem = endpoint('/api/filesystem.php', {
  list: action({
    summary: 'What a folder holds: directories first, then by name.',
    method: 'GET',
    auth: { device: true },
    limit: 'none',
    params: Type.Object({ path: Type.Optional(Path) }),
    answers: 'large',
    result: Type.Object({ ok: Ok, items: Type.Array(Item), path: Path }),
    errors: ['bad_path', 'not_found'],
    example: { path: '/' },
  }),
  quota: action({
    summary: 'Bytes used and allowed; `total` 0 means unlimited.',
    method: 'GET',
    auth: { device: true },
    limit: 'none',
    params: none,
    result: Type.Object({
      ok: Ok,
      used: Count,
      total: Count,
      percent: Count,
      used_formatted: Type.String(),
      total_formatted: Type.String(),
    }),
    errors: [],
    example: {},
  }),
})
