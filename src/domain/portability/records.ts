import { Type, type Static, type TSchema } from 'typebox'
import { Compile, type Validator } from 'typebox/compile'
import { isSound } from '../../base/text.ts'
import { AssistantAction } from '../../contract/assistant.ts'
import { categories } from '../../contract/app-categories.ts'
import type { TableName } from '../../contract/tables.ts'
import { readComponent } from '../desktop/desktop.ts'
import { refuseRow, type WholeRow } from '../sync/sync.ts'
import { BadArchive } from './bad-archive.ts'
import { FORMAT, FORMAT_VERSION } from './layout.ts'

// Parses the JSON of an archive. It is untrusted: whatever does not match is rejected.

const Moment = Type.String({ pattern: '^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}\\.\\d{3}Z$' })
const Text = Type.String({ maxLength: 1_000 })
const Whole = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })

const Account = Type.Object({
  format: Type.Literal(FORMAT),
  version: Type.Literal(FORMAT_VERSION),
  server_id: Text,
  exported_at: Moment,
  username: Text,
  display_name: Text,
  avatar_color: Type.String({ pattern: '^#[0-9a-f]{6}$' }),
})

const Content = {
  component_id: Text,
  component_type: Type.Union([Type.Literal('css'), Type.Literal('js'), Type.Literal('widget')]),
  code: Type.String(),
  metadata: Type.Object({}, { additionalProperties: true }),
}

const Component = Type.Object({
  ...Content,
  version: Type.Integer({ minimum: 1, maximum: 1_000_000_000 }),
  is_active: Type.Boolean(),
  updated_at: Moment,
})

const Profile = Type.Object({
  name: Type.String({ minLength: 1, maxLength: 100 }),
  is_default: Type.Boolean(),
  created_at: Moment,
  components: Type.Array(Type.Object(Content), { maxItems: 1_000 }),
})

const App = Type.Object({
  slug: Type.String({ pattern: '^[a-z0-9][a-z0-9-]{0,62}$' }),
  name: Type.String({ minLength: 1, maxLength: 100 }),
  description: Type.String({ maxLength: 2_000 }),
  icon_url: Type.String({ maxLength: 100_000 }),
  app_path: Type.String({ maxLength: 2_000 }),
  category: Type.Union(categories.map((name) => Type.Literal(name))),
  supports_context: Type.Boolean(),
})

const Room = Type.Object({
  name: Text,
  type: Type.Union([Type.Literal('channel'), Type.Literal('dm')]),
  created_at: Moment,
  members: Type.Array(Type.Object({ username: Text, display_name: Text }), { maxItems: 100_000 }),
})

const Message = Type.Object({
  id: Whole,
  from: Text,
  name: Text,
  text: Type.String({ maxLength: 100_000 }),
  at: Moment,
  edited_at: Type.Union([Moment, Type.Null()]),
  reply_to: Type.Union([Whole, Type.Null()]),
  reactions: Type.Array(Type.Object({ emoji: Text, users: Type.Array(Text) }), { maxItems: 1_000 }),
})

const Conversation = Type.Object({ id: Whole, title: Text, created_at: Moment, updated_at: Moment })

const AssistantMessage = Type.Object({
  conversation_id: Whole,
  role: Type.Union([Type.Literal('user'), Type.Literal('assistant')]),
  content: Type.String(),
  actions: Type.Array(AssistantAction, { maxItems: 1_000 }),
  at: Moment,
})

const Changed = Type.Object({
  id: Whole,
  conversation_id: Type.Union([Whole, Type.Null()]),
  undoes: Type.Union([Whole, Type.Null()]),
  at: Moment,
  items: Type.Array(Type.Object({ kind: Text, target: Type.String(), undone: Type.Boolean() })),
})

const Stamps = Type.Object({
  id: Whole,
  version: Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }),
  created_at: Moment,
  updated_at: Moment,
})

export type AccountRecord = Static<typeof Account>
export type ComponentRecord = Static<typeof Component>
export type ProfileRecord = Static<typeof Profile>
export type AppRecord = Static<typeof App>
export type RoomRecord = Static<typeof Room>
export type ConversationRecord = Static<typeof Conversation>
export type AssistantMessageRecord = Static<typeof AssistantMessage>
export type MessageRecord = Static<typeof Message>

const validators = new Map<TSchema, Validator>()

function parseRecord<S extends TSchema>(schema: S, value: unknown, where: string): Static<S> {
  let validator = validators.get(schema)
  if (!validator) validators.set(schema, (validator = Compile(schema)))
  if (validator.Check(value)) return value as Static<S>
  const [first] = validator.Errors(value)
  const part = first?.instancePath.slice(1).replaceAll('/', '.')
  throw new BadArchive(`${where}${part ? `, ${part}` : ''}: ${first?.message ?? 'it has not the right form'}`)
}

/** Runs a rule and turns its fault into `BadArchive` with the position. */
function checkRule<T>(where: string, rule: () => T): T {
  try {
    return rule()
  } catch (cause) {
    throw new BadArchive(`${where}: ${(cause as Error).message}`, { cause })
  }
}

export function readAccount(value: unknown, where: string): AccountRecord {
  const version = (value as { version?: unknown } | null)?.version
  if (typeof version === 'number' && version > FORMAT_VERSION)
    throw new BadArchive('it was made by a newer version of svc; update svc')
  return parseRecord(Account, value, where)
}

export function readRow(table: TableName, value: unknown, where: string): WholeRow & { stamps: object } {
  const { version, created_at, updated_at } = parseRecord(Stamps, value, where)
  const { id: _, version: __, created_at: ___, updated_at: ____, ...values } = value as Record<string, unknown>
  const refusal = refuseRow(table, 'new', values)
  if (refusal) throw new BadArchive(`${where}: ${refusal.error}`)
  return { table, values, stamps: { version, created_at, updated_at } }
}

export function readVersion(value: unknown, where: string): ComponentRecord {
  const component = parseRecord(Component, value, where)
  checkRule(where, () => readComponent(component))
  return component
}

export function readProfile(value: unknown, where: string): ProfileRecord {
  const profile = parseRecord(Profile, value, where)
  for (const component of profile.components) checkRule(where, () => readComponent(component))
  return profile
}

export const readApp = (value: unknown, where: string): AppRecord => parseRecord(App, value, where)
export const readRoom = (value: unknown, where: string): RoomRecord => parseRecord(Room, value, where)

function sound<T>(record: T, text: string, where: string): T {
  if (!isSound(text)) throw new BadArchive(`${where}: the text holds a character that cannot be stored`)
  return record
}

export function readMessage(value: unknown, where: string): MessageRecord {
  const message = parseRecord(Message, value, where)
  return sound(message, message.text, where)
}

export function readConversation(value: unknown, where: string): ConversationRecord {
  const conversation = parseRecord(Conversation, value, where)
  return sound(conversation, conversation.title, where)
}

export function readAssistantMessage(value: unknown, where: string): AssistantMessageRecord {
  const said = parseRecord(AssistantMessage, value, where)
  return sound(said, said.content, where)
}

export const readChanged = (value: unknown, where: string): unknown => parseRecord(Changed, value, where)
