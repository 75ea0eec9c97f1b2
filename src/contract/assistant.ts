import { Type, type Static } from 'typebox'
import { action, endpoint, none } from './define.ts'
import { ASSISTANT_BODY, ASSISTANT_HISTORY, ASSISTANT_MESSAGE } from './limits.ts'
import { Count, Id, Limit, Ok, Timestamp } from './shapes.ts'

const both = { session: true, device: true } as const

const text = (maxLength: number) => Type.String({ maxLength })
const orNull = <T extends ReturnType<typeof Type.String> | typeof Id>(schema: T, description: string) =>
  Type.Optional(Type.Union([schema, Type.Null()], { description }))

const kind = <const T extends string, D extends ReturnType<typeof Type.Object>>(type: T, data: D) =>
  Type.Object({ type: Type.Literal(type), data })

/** What the assistant wants done in front of the user. */
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
      summary: Type.String({ description: 'One line that says what would be done.' }),
      arguments: Type.Object({}, { additionalProperties: true, description: 'Exactly what the tool would be given.' }),
    }),
  ),
])
export type AssistantAction = Static<typeof AssistantAction>

const usage = Type.Object({
  model: Type.String(),
  iterations: Type.Integer({ minimum: 0, description: 'Rounds of the model that uses tools, at most 5.' }),
  tool_calls: Count,
})

const answer = Type.Object({
  ok: Ok,
  response: Type.String({ description: 'Markdown.' }),
  actions: Type.Array(AssistantAction),
  conversation_id: Id,
  change_set_id: Type.Optional({ ...Id, description: 'Where this answer changed anything: what `undo` takes back.' }),
  usage,
})

/** The whole answer to a message, as `done` of a stream has it too. */
export type AssistantAnswer = Static<typeof answer>

/** What a stream tells while the answer is made, by the name of its server-sent event; `done` and `error` end it. */
export interface AssistantEvents {
  /** The next piece of `response`. */
  delta: { text: string }
  /** A tool begins, or how it ended; `blocked` waits for a confirmation or was not allowed. */
  tool: { name: string; summary: string; status: 'running' | 'done' | 'failed' | 'blocked' }
  action: AssistantAction
  done: AssistantAnswer
  /** The body of a failure. */
  error: { ok: false; success: false; error: string; code: string }
}

const stream = Type.Optional(
  Type.Boolean({
    description:
      'Answer as server-sent events: `delta` `{text}`, `tool` `{name, summary, status}`, `action` `{type, data}`, at the end `done` with the whole answer or `error`.',
  }),
)

const Model = Type.Object({
  id: Type.String(),
  roles: Type.Array(Type.Union([Type.Literal('chat'), Type.Literal('agent'), Type.Literal('vision')])),
  tools: Type.Boolean({ description: 'Calls functions, as far as is known; others are told of tools in the text.' }),
  vision: Type.Boolean(),
  context: Type.Integer({ minimum: 1, description: 'Tokens it can read at once.' }),
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
  target: Type.String({ description: 'What was changed: a path, a table with the id of a row, a component.' }),
}

const Role = Type.Union([Type.Literal('user'), Type.Literal('assistant')])

/** The assistant: questions, conversations, and what it must ask for before it does it. */
export const assistant = endpoint('/api/assistant.php', {
  ask: action({
    summary: 'Ask the assistant; it may use tools with the rights of the caller.',
    method: 'POST',
    byDefault: true,
    streams: true,
    auth: both,
    limit: 'assistant',
    maxBody: ASSISTANT_BODY,
    params: Type.Object({
      message: Type.String({ minLength: 1, maxLength: ASSISTANT_MESSAGE }),
      model: orNull(text(200), 'One of the action `models`; the standard one without it.'),
      conversation_id: orNull(Id, 'The conversation to go on with; null begins one.'),
      history: Type.Optional(
        Type.Array(Type.Object({ role: Role, content: text(ASSISTANT_HISTORY.max_bytes) }), {
          maxItems: ASSISTANT_HISTORY.max_items,
          description: 'What was said before in a new conversation, at most 256 KiB; an old one is remembered here.',
        }),
      ),
      context: Type.Optional(
        Type.Object(
          {},
          {
            additionalProperties: true,
            description:
              'What is in front of the user, for example `app` and `path`: at most 16 KiB, 8 levels. Read as data, never as instructions.',
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
    summary: 'Models that may be asked for, the standard one first.',
    method: 'GET',
    auth: both,
    limit: 'none',
    params: none,
    result: Type.Object({ ok: Ok, models: Type.Array(Model) }),
    errors: [],
    example: {},
  }),
  conversations: action({
    summary: 'Conversations of the caller, the one used last first.',
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
      conversation_id: Type.Integer({ ...Id, description: 'One that `conversations` tells.' }),
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
    summary: 'Delete a conversation with all its messages.',
    method: 'POST',
    auth: both,
    limit: 'none',
    params: Type.Object({ conversation_id: Id }),
    result: Type.Object({ ok: Ok }),
    errors: ['not_found'],
    example: { conversation_id: 1 },
  }),
  confirm: action({
    summary: 'Allow or decline what the assistant asked to do; it then goes on with its answer.',
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
    summary: 'What the assistant changed for the caller, newest first: a set for each answer, and for each undo.',
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
          conversation_id: Type.Union([Id, Type.Null()], { description: 'It may be deleted by now.' }),
          undoes: Type.Union([Id, Type.Null()], { description: 'The set that this one took back.' }),
          created_at: Timestamp,
          items: Type.Array(Type.Object({ ...changed, undone: Type.Boolean() }), {
            description: 'In the order in which they happened.',
          }),
        }),
      ),
      has_more: Type.Boolean(),
    }),
    errors: [],
    example: {},
  }),
  undo: action({
    summary: 'Take back what a change set did, its last change first; what was changed since stays and is named.',
    method: 'POST',
    auth: both,
    limit: 'none',
    params: Type.Object({ change_set_id: Id }),
    result: Type.Object({
      ok: Ok,
      change_set_id: Type.Union([Id, Type.Null()], {
        description: 'The undo itself, which can be undone; null when nothing was left to take back.',
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
