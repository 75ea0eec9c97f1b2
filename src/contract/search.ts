import type { Static } from 'typebox'
import { action, endpoint } from './define.ts'
import { Id, Limit, Ok, Timestamp } from './shapes.ts'
import { Type } from './schema.ts'

export const searchKinds = [
  'file',
  'folder',
  'message',
  'note',
  'doc',
  'event',
  'contact',
  'task',
  'place',
  'bookmark',
] as const
export type SearchKind = (typeof searchKinds)[number]

const Kind = Type.Unsafe<SearchKind>(Type.Union(searchKinds.map((kind) => Type.Literal(kind))))

const Result = Type.Object({
  kind: Kind,
  id: { ...Id, description: 'The id of the file, message or row.' },
  title: Type.String(),
  snippet: Type.String({ description: 'The part of the text around the first word that was found.' }),
  path: Type.Union([Type.String(), Type.Null()], { description: 'The path of a file or folder.' }),
  room_id: Type.Union([Id, Type.Null()], { description: 'The room of a message or a shared file.' }),
  time: { ...Timestamp, description: 'The last change; of an event its start.' },
})
export type SearchResult = Static<typeof Result>

export const search = endpoint('/api/search.php', {
  find: action({
    summary:
      'Files, messages and rows of the caller that contain all words of a text: first those with the words in their title.',
    method: 'POST',
    reads: true,
    auth: { device: true, session: true },
    limit: 'search',
    cost: 1,
    params: Type.Object({
      query: Type.String({
        maxLength: 10_000,
        description:
          'Words or beginnings of words, of which the first eight count. Case and accents do not matter, and no character has a meaning of its own.',
      }),
      kinds: Type.Optional(Type.Array(Kind, { maxItems: searchKinds.length, description: 'Only these kinds.' })),
      limit: Type.Optional(Type.Integer({ ...Limit(20, 100), maximum: Number.MAX_SAFE_INTEGER })),
      cursor: Type.Optional(Type.String({ maxLength: 20, description: '`next` of the page before.' })),
    }),
    result: Type.Object({
      ok: Ok,
      results: Type.Array(Result),
      next: Type.Union([Type.String(), Type.Null()], {
        description: 'The cursor of the next page; null after the last.',
      }),
      complete: Type.Boolean({ description: 'False while the index is being built: results may be missing.' }),
    }),
    errors: [],
    example: { query: 'milk' },
  }),
})
