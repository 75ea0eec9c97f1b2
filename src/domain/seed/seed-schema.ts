import { Type, type Static, type TProperties, type TSchema } from 'typebox'
import { categories } from '../../contract/app-categories.ts'
import { LATEST_MTIME } from '../../contract/limits.ts'
import { rowSchema, tables, type Column, type SyncedTable, type TableName } from '../../contract/tables.ts'

// The schema of a seed, declared once: validation, JSON Schema and types derive from it. `says` is the error message of
// a value.

const object = <P extends TProperties>(properties: P, description?: string) =>
  Type.Object(properties, { additionalProperties: false, ...(description !== undefined && { description }) })
const text = (description: string, max = 100, more: object = {}) =>
  Type.String({ minLength: 1, maxLength: max, description, ...more })
const optional = Type.Optional

const Username = text('User name, in lower case.', 64)
const size = (description: string) =>
  Type.Union([Type.String(), Type.Integer({ minimum: 0 })], { description, says: 'must be a size such as 10GB' })
const FilePath = (description: string) => text(description, 4_096)

const File = object(
  {
    path: text('Where it goes in the account, as /Notes/welcome.md; missing folders are made.', 4_096),
    text: optional(Type.String({ description: 'The content, as text.' })),
    base64: optional(Type.String({ description: 'The content, in base64.' })),
    from: optional(
      FilePath('A file or a whole folder beside the seed, as a relative path; symbolic links are not followed.'),
    ),
    folder: optional(Type.Literal(true, { description: 'An empty folder.' })),
    mtime: optional(
      Type.Union([Type.String(), Type.Integer({ minimum: 0, maximum: LATEST_MTIME })], {
        description: 'Modification time: seconds since 1970, or as 2026-11-21T09:30:00Z.',
        says: 'must be a time such as 2026-11-21T09:30:00Z, or seconds since 1970',
      }),
    ),
  },
  'A file or folder: one of text, base64, from and folder says what is in it.',
)

const Component = object({
  id: text('Its name.'),
  type: Type.Union([Type.Literal('css'), Type.Literal('js'), Type.Literal('widget')]),
  code: optional(Type.String({ description: 'At most 100 KiB.' })),
  from: optional(FilePath('A file beside the seed with the code.')),
  metadata: optional(Type.Object({}, { additionalProperties: true })),
})

const DESCRIPTIONS: Partial<Record<Column['type'], string>> = {
  date: 'must be a date such as 2026-11-21',
  timestamp: 'must be a time such as 2026-11-21T09:30:00Z',
}

/** The columns of a table, with messages for those with a pattern. */
function columnsOf(table: SyncedTable): TProperties {
  const { properties } = rowSchema(table, 'new')
  for (const [name, column] of Object.entries(table.columns)) {
    const says = DESCRIPTIONS[column.type] ?? (column.pattern && `must match ${column.pattern}`)
    if (says !== undefined) Object.assign(properties[name]!, { says })
  }
  return properties
}

const Row = (table: SyncedTable) =>
  object({
    key: text('Permanent name of this row, by which the next run finds it.', 200),
    ...columnsOf(table),
  })

const rowLists = Object.fromEntries(
  Object.entries<SyncedTable>(tables).map(([name, table]) => [
    name,
    optional(Type.Array(Row(table), { description: `${table.summary}.` })),
  ]),
) as unknown as Record<TableName, TSchema>

const User = object({
  username: Username,
  display_name: optional(text('Name shown to others; the user name where nothing is said.')),
  role: optional(Type.Union([Type.Literal('user'), Type.Literal('admin')], { description: 'Rights: user or admin.' })),
  quota: optional(size('Storage such as 10GB, none, or default.')),
  password: optional(
    text('The password in plain text: for tests only, because anyone who reads the seed knows it.', 1_024),
  ),
  password_file: optional(FilePath('A file with the password in its only line; a relative path begins at the seed.')),
  password_hash: optional(text('The argon2id hash of the password, as $argon2id$v=19$m=…,t=…,p=…$…$….', 400)),
  generate: optional(Type.Literal(true, { description: 'Makes a password and shows it once.' })),
  token: optional(
    Type.Literal(true, { description: 'Puts a device token into the ready file of svc serve --seed, at every start.' }),
  ),
  rows: optional(object(rowLists, 'Rows of the synchronised tables.')),
  components: optional(Type.Array(Component, { description: 'Styles, hooks and widgets of the desktop.' })),
  files: optional(Type.Array(File, { description: 'Files and folders.' })),
})

const Message = object({
  id: text('Permanent name of this message.'),
  from: Username,
  text: text('What it says.', 16_384),
  reply_to: optional(text('The id of a message above.')),
})

const Room = object({
  name: text('Its name.'),
  type: optional(Type.Union([Type.Literal('channel'), Type.Literal('dm')])),
  creator: Username,
  members: optional(Type.Array(Username, { description: 'The other members.', maxItems: 10_000 })),
  messages: optional(Type.Array(Message)),
})

const App = object({
  slug: text('Its short name.', 63, {
    pattern: '^[a-z0-9][a-z0-9-]{0,62}$',
    says: 'must consist of lower-case letters, digits and hyphens',
  }),
  name: text('Its name on the desktop.'),
  app_path: optional(text('A path below /apps/, or an https URL of an allowed origin.', 2_000)),
  description: optional(Type.String({ maxLength: 2_000 })),
  icon_url: optional(Type.String({ maxLength: 100_000 })),
  category: optional(Type.Union(categories.map((name) => Type.Literal(name)))),
  supports_context: optional(Type.Boolean()),
  admin_only: optional(Type.Boolean()),
})

export const Seed = object({
  version: optional(Type.Literal(1, { description: 'Of this format.' })),
  settings: optional(
    Type.Record(
      Type.String(),
      Type.Union([Type.String(), Type.Number(), Type.Boolean(), Type.Array(Type.String())], {
        says: 'must be a text, a number, true, false or a list of texts',
      }),
      { description: 'Settings that svc config set can change while the server runs.' },
    ),
  ),
  apps: optional(Type.Array(App, { description: 'Apps for all users, registered by URL.' })),
  users: optional(Type.Array(User, { description: 'Accounts and what is in them.' })),
  rooms: optional(Type.Array(Room, { description: 'Chat rooms.' })),
})

export type SeedRow = { key: string; [column: string]: unknown }

export type SeedUser = Omit<Static<typeof User>, 'rows'> & { rows?: { [table in TableName]?: SeedRow[] } }
export type SeedRoom = Static<typeof Room>
export type SeedFile = Static<typeof File>
export type SeedComponent = Static<typeof Component>
export type SeedApp = Static<typeof App>

export const seedSchema = (): object => ({
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  title: 'Seed of an svc server',
  ...(JSON.parse(JSON.stringify(Seed, (key, value: unknown) => (key === 'says' ? undefined : value))) as object),
})
