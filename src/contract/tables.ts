import type { TObject, TSchema } from 'typebox'
import { Type } from './schema.ts'

/** The type of a column: how it is checked, stored and shown. Dates are `YYYY-MM-DD`, timestamps ISO 8601 UTC. */
export type ColumnType = 'text' | 'integer' | 'real' | 'boolean' | 'date' | 'timestamp' | 'texts'

export interface Column {
  type: ColumnType
  required?: true
  /** Text: maximum Unicode characters. Texts: maximum UTF-16 code units of their JSON. Numbers: maximum value. */
  max?: number
  min?: number
  /** The only values allowed. */
  values?: readonly string[]
  /** Value of a column that was not sent; null if omitted. */
  default?: string | number | boolean
  /** Never leaves the server and is never accepted from a client. */
  private?: true
  /** Of the text, or of each of the texts. */
  pattern?: string
}

export interface SyncedTable {
  summary: string
  columns: Record<string, Column>
  /** Part of the feed, but not writable through it. */
  readOnly?: true
}

const LINE = 500
const TEXT = 1_000_000

const text = <const M extends Partial<Column> = object>(max: number, more = {} as M) => ({
  type: 'text' as const,
  max,
  ...more,
})
const title = text(LINE, { required: true })
const flag = { type: 'boolean', default: false } as const satisfies Column

/** Columns of repeated events, as in iCalendar (RFC 5545). Clients that do not know them show the first occurrence. */
const recurrence = {
  /** Identifies the event in other programs, and connects a series with its changed occurrences. */
  uid: text(LINE),
  /** The time zone of the rule, such as `Europe/Berlin`; UTC if omitted. */
  tzid: text(64),
  rrule: text(1_000),
  /** Starts of additional occurrences, and of those that are left out. */
  rdates: { type: 'texts', max: 50_000 },
  exdates: { type: 'texts', max: 50_000 },
  /** Of a changed occurrence: when it would have started. */
  recurrence_id: { type: 'timestamp' },
  /** The event as another program wrote it (RFC 5545), with the time zones that it names. */
  ical: text(TEXT),
} as const satisfies Record<string, Column>

/** Columns of what reminds of itself. */
const reminders = {
  /** Minutes before the start, or before midnight if there is no hour; negative ones come after it. */
  reminders: { type: 'texts', max: 1_000, pattern: '^-?\\d{1,6}$' },
  /** Reminders up to this moment are acknowledged. */
  reminded_at: { type: 'timestamp' },
  /** When an acknowledged reminder is repeated. */
  snoozed_until: { type: 'timestamp' },
} as const satisfies Record<string, Column>

/** Every synchronised table. Storage, validation, feed, push, command line and documentation follow from it. */
export const tables = {
  svc_notes: {
    summary: 'Notes',
    columns: { title, content: text(TEXT), category: text(LINE), pinned: flag, color: text(32) },
  },
  svc_docs: {
    summary: 'Documents in Markdown',
    columns: { title, content: text(TEXT), folder: text(LINE), tags: { type: 'texts', max: 10_000 }, archived: flag },
  },
  svc_finance: {
    summary: 'Income, expenses and transfers',
    columns: {
      kind: text(16, { required: true, values: ['income', 'expense', 'transfer'] }),
      amount_cents: { type: 'integer', required: true, min: -1e15, max: 1e15 },
      currency: text(3, { required: true, pattern: '^[A-Z]{3}$' }),
      category: text(LINE),
      description: text(10_000),
      account: text(LINE),
      booked_on: { type: 'date', required: true },
    },
  },
  svc_places: {
    summary: 'Places with coordinates',
    columns: {
      name: title,
      latitude: { type: 'real', required: true, min: -90, max: 90 },
      longitude: { type: 'real', required: true, min: -180, max: 180 },
      address: text(2_000),
      category: text(LINE),
      note: text(TEXT),
      visited_on: { type: 'date' },
    },
  },
  svc_tasks: {
    summary: 'Tasks',
    columns: {
      title,
      note: text(TEXT),
      due_on: { type: 'date' },
      priority: { type: 'integer', min: 0, max: 9, default: 0 },
      done: flag,
      done_at: { type: 'timestamp' },
      /** The hour on the day `due_on`, by the clock of the zone `tzid`; UTC if there is none. */
      due_time: text(5, { pattern: '^([01]\\d|2[0-3]):[0-5]\\d$' }),
      tzid: text(64),
      /** Counts from `due_on`, in days. When a task is done, it becomes due again on the next one. */
      rrule: text(1_000),
      /** Identifies the task in other programs, and to its sub-tasks. */
      uid: text(LINE),
      /** The `uid` of the task that this one is a part of. */
      parent_uid: text(LINE),
      ...reminders,
    },
  },
  svc_events: {
    summary: 'Calendar events',
    columns: {
      title,
      starts_at: { type: 'timestamp', required: true },
      ends_at: { type: 'timestamp' },
      all_day: flag,
      location: text(2_000),
      note: text(TEXT),
      ...recurrence,
      ...reminders,
      /** The `uid` of a row of `svc_calendars`. An event that names no existing calendar belongs to the default one. */
      calendar_uid: text(LINE),
    },
  },
  svc_contacts: {
    summary: 'Contacts',
    columns: {
      name: title,
      email: text(320),
      phone: text(64),
      company: text(LINE),
      note: text(TEXT),
      /** Identifies the contact in other programs. */
      uid: text(LINE),
      other_emails: { type: 'texts', max: 20_000 },
      other_phones: { type: 'texts', max: 20_000 },
      /** The contact as another program wrote it (RFC 2426, RFC 6350), without pictures. */
      vcard: text(TEXT),
    },
  },
  svc_bookmarks: {
    summary: 'Bookmarks',
    columns: { title, url: text(4_000, { required: true }), folder: text(LINE), note: text(TEXT) },
  },
  svc_calendars: {
    summary: 'Calendars of the events',
    columns: {
      name: title,
      /** Identifies the calendar to its events. */
      uid: text(LINE, { required: true }),
      color: text(7, { pattern: '^#[0-9A-Fa-f]{6}$' }),
      /** Whether its events are shown only in search results. */
      hidden: flag,
      /** The calendar of events that name none: of several, the one with the lowest ID. */
      is_default: flag,
    },
  },
} as const satisfies Record<string, SyncedTable>

export type TableName = keyof typeof tables

/** Tables of the feed that are written by other actions: the file tree, and the caller's rooms with their messages. */
export const readOnlyTables = {
  svc_files: {
    summary: 'The file tree; `parent_id` is null at the root, sha256, size and mtime are null for directories',
    columns: ['parent_id', 'name', 'type', 'size', 'sha256', 'mtime'],
  },
  svc_rooms: { summary: 'Chat rooms of the caller', columns: ['name', 'type', 'created_by'] },
  svc_messages: {
    summary: 'Messages of those rooms',
    columns: ['room_id', 'user_id', 'content', 'timestamp', 'edited_at', 'reply_to'],
  },
} as const

export type FeedTable = TableName | keyof typeof readOnlyTables

/** All tables of the feed, in the order of `info` and `initial_sync`. */
export const feedTables = [...Object.keys(tables), ...Object.keys(readOnlyTables)] as FeedTable[]

export const isWritable = (name: string): name is TableName => Object.hasOwn(tables, name)

/** Schema version in `info` and `initial_sync`. Increase it when a table or column is added. */
export const SCHEMA_VERSION = 7

const formats: Record<'date' | 'timestamp', string> = {
  date: '^\\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\\d|3[01])$',
  timestamp: '^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}(\\.\\d{1,9})?(Z|[+-]\\d{2}:\\d{2})$',
}

function valueSchema(column: Column): TSchema {
  switch (column.type) {
    case 'text':
      if (column.values) return Type.Union(column.values.map((value) => Type.Literal(value)))
      return Type.String({
        maxLength: column.max ?? TEXT,
        ...(column.pattern ? { pattern: column.pattern } : {}),
      })
    case 'integer':
      return Type.Integer({
        minimum: column.min ?? -Number.MAX_SAFE_INTEGER,
        maximum: column.max ?? Number.MAX_SAFE_INTEGER,
      })
    case 'real':
      return Type.Number({ minimum: column.min ?? -Number.MAX_VALUE, maximum: column.max ?? Number.MAX_VALUE })
    case 'boolean':
      return Type.Boolean()
    case 'texts':
      return Type.Array(Type.String({ maxLength: LINE, ...(column.pattern ? { pattern: column.pattern } : {}) }))
    default:
      return Type.String({ pattern: formats[column.type], maxLength: 40 })
  }
}

/** The columns that a client may send: a new row needs all required ones, a change any of them. */
export function rowSchema(table: SyncedTable, kind: 'new' | 'change'): TObject {
  const properties: Record<string, TSchema> = {}
  for (const [name, column] of Object.entries(table.columns)) {
    if (column.private) continue
    const value = valueSchema(column)
    if (column.required) properties[name] = kind === 'new' ? value : Type.Optional(value)
    else properties[name] = Type.Optional(column.default === undefined ? Type.Union([value, Type.Null()]) : value)
  }
  return Type.Object(properties)
}
