import type { Static } from 'typebox'
import { action, endpoint, none } from './define.ts'
import { ASSISTANT_BODY, ASSISTANT_HISTORY, ASSISTANT_MESSAGE } from './limits.ts'
import { Count, Id, Limit, Ok, Timestamp } from './shapes.ts'
import { Type } from './schema.ts'

const both = { session: true, device: true } as const

const text = (maxLength: number) => Type.String({ maxLength })
const orNull = <T extends ReturnType<typeof Type.String> | typeof Id>(schema: T, description: string) =>
  Type.Optional(Type.Union([schema, Type.Null()], { description }))

const kind = <const T extends string, D extends ReturnType<typeof Type.Object>>(type: T, data: D) =>
  Type.Object({ type: Type.Literal(type), data })

/** An action that the desktop performs, or for which it asks for confirmation. */
export const AssistantAction = Type.Union([
  kind('open_app', Type.Object({ slug: Type.String(), path: Type.Optional(Type.String()) })),
  kind('set_wallpaper', Type.Object({ wallpaper: Type.String() })),
  kind('refresh_apps', Type.Object({})),
  kind('reload_app', Type.Object({ slug: Type.String() })),
  kind(
    'confirm',
    Type.Object({
      confirmation_id: Type.String({ description: 'Answer it with the action `confirm` within 5 minutes.' }),
      tool: Type.String(),
      summary: Type.String({ description: 'One line that describes the action.' }),
      arguments: Type.Object({}, { additionalProperties: true, description: 'The exact arguments of the tool.' }),
    }),
  ),
])
export type AssistantAction = Static<typeof AssistantAction>

const usage = Type.Object({
  model: Type.String(),
  iterations: Type.Integer({ minimum: 0, description: 'Rounds of the agent loop, at most 5.' }),
  tool_calls: Count,
})

const answer = Type.Object({
  ok: Ok,
  response: Type.String({ description: 'Markdown.' }),
  actions: Type.Array(AssistantAction),
  conversation_id: Id,
  change_set_id: Type.Optional({
    ...Id,
    description: 'Change set of this answer, for `undo`. Omitted if nothing changed.',
  }),
  usage,
})

/** The whole answer, also sent as `done` of a stream. */
export type AssistantAnswer = Static<typeof answer>

/** Server-sent events of an answer by name. `done` or `error` ends the stream. */
export interface AssistantEvents {
  /** The next piece of `response`. */
  delta: { text: string }
  /** A tool starts or ends; `blocked` waits for a confirmation or was not allowed. */
  tool: { name: string; summary: string; status: 'running' | 'done' | 'failed' | 'blocked' }
  action: AssistantAction
  done: AssistantAnswer
  /** The body of a failure. */
  error: { ok: false; success: false; error: string; code: string }
}

const stream = Type.Optional(
  Type.Boolean({
    description:
      'Respond with server-sent events: `delta` `{text}`, `tool` `{name, summary, status}`, `action` `{type, data}`, and finally `done` with the whole answer, or `error`.',
  }),
)

const Model = Type.Object({
  id: Type.String(),
  roles: Type.Array(Type.Union([Type.Literal('chat'), Type.Literal('agent'), Type.Literal('vision')])),
  tools: Type.Boolean({
    description: 'Whether the model is known to call functions. Other models get the tools described in the prompt.',
  }),
  vision: Type.Boolean(),
  context: Type.Integer({ minimum: 1, description: 'Size of the context in tokens.' }),
})

const Conversation = Type.Object({
  conversation_id: Id,
  title: Type.String(),
  created_at: Timestamp,
  updated_at: Timestamp,
  message_count: Count,
})

const ChangeKind = Type.Union([
  Type.Literal('made'),
  Type.Literal('written'),
  Type.Literal('moved'),
  Type.Literal('trashed'),
  Type.Literal('row_added'),
  Type.Literal('row_changed'),
  Type.Literal('row_removed'),
  Type.Literal('component'),
])
const changed = {
  kind: ChangeKind,
  target: Type.String({ description: 'The changed object: a path, a table with a row ID, or a component.' }),
}

const Role = Type.Union([Type.Literal('user'), Type.Literal('assistant')])

/** The assistant: questions, conversations and confirmations. */
export const assistant = endpoint('/api/assistant.php', {
  ask: action({
    summary: 'Ask the assistant. It can use tools with the rights of the caller.',
    method: 'POST',
    byDefault: true,
    streams: true,
    auth: both,
    limit: 'assistant',
    maxBody: ASSISTANT_BODY,
    params: Type.Object({
      message: Type.String({ minLength: 1, maxLength: ASSISTANT_MESSAGE }),
      model: orNull(text(200), 'A model listed by `models`; the default model if omitted.'),
      conversation_id: orNull(Id, 'The conversation to continue; null starts one.'),
      history: Type.Optional(
        Type.Array(Type.Object({ role: Role, content: text(ASSISTANT_HISTORY.max_bytes) }), {
          maxItems: ASSISTANT_HISTORY.max_items,
          description:
            'Earlier messages of a new conversation, at most 256 KiB. The server stores those of existing conversations.',
        }),
      ),
      context: Type.Optional(
        Type.Object(
          {},
          {
            additionalProperties: true,
            description:
              'What the user currently sees, for example `app` and `path`. At most 16 KiB and 8 levels. Treated as data, never as instructions.',
          },
        ),
      ),
      image: orNull(text(12 * 1_048_576), 'A PNG, JPEG, GIF or WebP of at most 8 MiB, in base64 or as a `data:` URL.'),
      stream,
    }),
    result: answer,
    errors: ['not_found', 'too_large', 'rate_limited', 'quota_exceeded', 'assistant_unavailable'],
    example: { message: 'Good morning' },
  }),
  models: action({
    summary: 'Available models, the default one first.',
    method: 'GET',
    auth: both,
    limit: 'none',
    params: none,
    result: Type.Object({ ok: Ok, models: Type.Array(Model) }),
    errors: [],
    example: {},
  }),
  conversations: action({
    summary: 'Conversations of the caller, most recently used first.',
    method: 'GET',
    auth: both,
    limit: 'none',
    params: Type.Object({ limit: Type.Optional(Limit(100, 500)) }),
    result: Type.Object({ ok: Ok, conversations: Type.Array(Conversation) }),
    errors: [],
    example: {},
  }),
  messages: action({
    summary: 'Messages of a conversation, oldest first.',
    method: 'GET',
    auth: both,
    limit: 'none',
    params: Type.Object({
      conversation_id: Type.Integer({ ...Id, description: 'ID from `conversations`.' }),
    }),
    result: Type.Object({
      ok: Ok,
      messages: Type.Array(
        Type.Object({
          message_id: Id,
          role: Role,
          content: Type.String(),
          actions: Type.Array(AssistantAction),
          created_at: Timestamp,
        }),
      ),
    }),
    errors: ['not_found'],
    example: { conversation_id: 1 },
  }),
  delete_conversation: action({
    summary: 'Delete a conversation and all its messages.',
    method: 'POST',
    auth: both,
    limit: 'none',
    params: Type.Object({ conversation_id: Id }),
    result: Type.Object({ ok: Ok }),
    errors: ['not_found'],
    example: { conversation_id: 1 },
  }),
  confirm: action({
    summary: 'Allow or decline a pending action. The assistant then continues its answer.',
    method: 'POST',
    streams: true,
    auth: both,
    limit: 'assistant',
    params: Type.Object({
      confirmation_id: Type.String({ minLength: 1, maxLength: 64 }),
      allow: Type.Boolean(),
      stream,
    }),
    result: answer,
    errors: ['not_found', 'gone', 'rate_limited', 'assistant_unavailable'],
    example: { confirmation_id: '0123456789abcdef0123456789abcdef', allow: true },
  }),
  changes: action({
    summary: 'Change sets of the assistant, newest first: one per answer and one per undo.',
    method: 'GET',
    auth: both,
    limit: 'none',
    params: Type.Object({
      before: Type.Optional({ ...Id, description: 'Only sets before this one.' }),
      limit: Type.Optional(Limit(20, 100)),
    }),
    result: Type.Object({
      ok: Ok,
      changes: Type.Array(
        Type.Object({
          change_set_id: Id,
          conversation_id: Type.Union([Id, Type.Null()], { description: 'The conversation may have been deleted.' }),
          undoes: Type.Union([Id, Type.Null()], { description: 'The change set that this one undid.' }),
          created_at: Timestamp,
          items: Type.Array(Type.Object({ ...changed, undone: Type.Boolean() }), {
            description: 'In chronological order.',
          }),
        }),
      ),
      has_more: Type.Boolean(),
    }),
    errors: [],
    example: {},
  }),
  undo: action({
    summary: 'Undo a change set, last change first. Objects that changed since then stay as they are and are listed.',
    method: 'POST',
    auth: both,
    limit: 'none',
    params: Type.Object({ change_set_id: Id }),
    result: Type.Object({
      ok: Ok,
      change_set_id: Type.Union([Id, Type.Null()], {
        description: 'The change set of the undo, which can be undone too; null if nothing was left to undo.',
      }),
      items: Type.Array(
        Type.Object({
          ...changed,
          status: Type.Union([Type.Literal('undone'), Type.Literal('refused'), Type.Literal('already')]),
          reason: Type.Optional(Type.String({ description: 'Why it was refused.' })),
        }),
      ),
    }),
    errors: ['not_found'],
    example: { change_set_id: 1 },
  }),
})
