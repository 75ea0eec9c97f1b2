import { formatDateTime, formatSize } from '../../kit/formats.ts'
import { catalogue } from '../../kit/language.ts'
import type { AnswerOf } from '../../wire/actions.ts'
import { words } from './words.ts'

type Detail = AnswerOf<'admin.audit'>['entries'][number]['detail'][number]

const labels = {
  actual: 'Counted now',
  added_bytes: 'New',
  allow: 'Also allowed',
  app_path: 'Address',
  arguments_sha256: 'SHA-256 of the arguments',
  avatar_color: 'Avatar color',
  backup: 'Backup',
  before: 'Previous version',
  bytes: 'Size',
  contents: 'Contents',
  conversation: 'Conversation',
  count: 'Number',
  counted: 'Counted before',
  deactivated: 'Components turned off',
  device_id: 'Device ID',
  device_name: 'Device',
  devices_ended: 'Devices signed out',
  display_name: 'Display name',
  encrypted: 'Encrypted',
  expires_at: 'Valid until',
  exported_at: 'Exported on',
  failures: 'Errors',
  fields: 'Changed',
  files: 'Files',
  files_to: 'Files transferred to',
  folder: 'Folder',
  from_epoch: 'Previous epoch',
  id: 'ID',
  ids: 'Backups',
  is_system: 'Included in svc',
  job: 'Job',
  keep_daily: 'Daily backups',
  keep_last: 'Latest backups',
  keep_monthly: 'Monthly backups',
  keep_weekly: 'Weekly backups',
  kept_devices: 'Devices stay signed in',
  kind: 'Type',
  lost_contents: 'Lost contents',
  members: 'Members',
  message: 'Message',
  messages: 'Messages',
  messages_kept: 'Messages kept',
  minutes: 'Minutes',
  missing: 'Missing contents',
  name: 'Name',
  of: 'Kind of data',
  place: 'Folder',
  problem: 'Problem',
  purge: 'Removed with its settings',
  quota_bytes: 'Quota',
  read_only: 'Read-only',
  reason: 'Reason',
  repaired: 'Repaired contents',
  result: 'Result',
  role: 'Role',
  room: 'Room',
  schedule: 'Schedule',
  server_id: 'Server',
  session_id: 'Session',
  sessions: 'Browsers signed out',
  sessions_ended: 'Browsers signed out',
  sha256: 'SHA-256',
  slug: 'App',
  source: 'Source',
  state_of: 'State of',
  token_id: 'Token',
  tool: 'Tool',
  until: 'Automatic end',
  username: 'User name',
  value: 'Value',
  version: 'Version',
  was: 'Before',
  what: 'Moved',
  user_add: 'Users added',
  user_change: 'Users changed',
  setting_add: 'Settings added',
  setting_change: 'Settings changed',
  app_add: 'Apps added',
  app_change: 'Apps changed',
  row_add: 'Rows added',
  row_change: 'Rows changed',
  component_add: 'Components added',
  component_change: 'Components changed',
  file_add: 'Files added',
  file_change: 'Files changed',
  room_add: 'Rooms added',
  room_change: 'Rooms changed',
  member_add: 'Members added',
  member_change: 'Members changed',
  message_add: 'Messages added',
  message_change: 'Messages changed',
} as const

const label = catalogue(labels, {
  actual: 'Jetzt gezählt',
  added_bytes: 'Neu',
  allow: 'Zusätzlich erlaubt',
  app_path: 'Adresse',
  arguments_sha256: 'SHA-256 der Argumente',
  avatar_color: 'Avatarfarbe',
  backup: 'Sicherung',
  before: 'Vorherige Version',
  bytes: 'Größe',
  contents: 'Inhalte',
  conversation: 'Unterhaltung',
  count: 'Anzahl',
  counted: 'Zuvor gezählt',
  deactivated: 'Deaktivierte Komponenten',
  device_id: 'Geräte-ID',
  device_name: 'Gerät',
  devices_ended: 'Abgemeldete Geräte',
  display_name: 'Anzeigename',
  encrypted: 'Verschlüsselt',
  expires_at: 'Gültig bis',
  exported_at: 'Exportiert am',
  failures: 'Fehler',
  fields: 'Geändert',
  files: 'Dateien',
  files_to: 'Dateien übertragen an',
  folder: 'Ordner',
  from_epoch: 'Vorherige Epoche',
  id: 'ID',
  ids: 'Sicherungen',
  is_system: 'In svc enthalten',
  job: 'Auftrag',
  keep_daily: 'Tägliche Sicherungen',
  keep_last: 'Neueste Sicherungen',
  keep_monthly: 'Monatliche Sicherungen',
  keep_weekly: 'Wöchentliche Sicherungen',
  kept_devices: 'Geräte bleiben angemeldet',
  kind: 'Art',
  lost_contents: 'Verlorene Inhalte',
  members: 'Mitglieder',
  message: 'Nachricht',
  messages: 'Nachrichten',
  messages_kept: 'Behaltene Nachrichten',
  minutes: 'Minuten',
  missing: 'Fehlende Inhalte',
  name: 'Name',
  of: 'Art der Daten',
  place: 'Ordner',
  problem: 'Problem',
  purge: 'Mit Einstellungen entfernt',
  quota_bytes: 'Kontingent',
  read_only: 'Schreibschutz',
  reason: 'Grund',
  repaired: 'Reparierte Inhalte',
  result: 'Ergebnis',
  role: 'Rolle',
  room: 'Raum',
  schedule: 'Zeitplan',
  server_id: 'Server',
  session_id: 'Sitzung',
  sessions: 'Abgemeldete Browser',
  sessions_ended: 'Abgemeldete Browser',
  sha256: 'SHA-256',
  slug: 'App',
  source: 'Quelle',
  state_of: 'Stand vom',
  token_id: 'Token',
  tool: 'Werkzeug',
  until: 'Automatisches Ende',
  username: 'Benutzername',
  value: 'Wert',
  version: 'Version',
  was: 'Zuvor',
  what: 'Verschoben',
  user_add: 'Hinzugefügte Benutzer',
  user_change: 'Geänderte Benutzer',
  setting_add: 'Hinzugefügte Einstellungen',
  setting_change: 'Geänderte Einstellungen',
  app_add: 'Hinzugefügte Apps',
  app_change: 'Geänderte Apps',
  row_add: 'Hinzugefügte Zeilen',
  row_change: 'Geänderte Zeilen',
  component_add: 'Hinzugefügte Komponenten',
  component_change: 'Geänderte Komponenten',
  file_add: 'Hinzugefügte Dateien',
  file_change: 'Geänderte Dateien',
  room_add: 'Hinzugefügte Räume',
  room_change: 'Geänderte Räume',
  member_add: 'Hinzugefügte Mitglieder',
  member_change: 'Geänderte Mitglieder',
  message_add: 'Hinzugefügte Nachrichten',
  message_change: 'Geänderte Nachrichten',
})

/** Values that are identifiers, as `name.value`. */
const values = {
  'allow.code': 'to install program code',
  'kind.session': 'browser',
  'kind.sync': 'device',
  'of.files': 'files',
  'of.rows': 'rows',
  'of.chat': 'chat',
  'of.components': 'components',
  'of.assistant': 'assistant',
  'of.pushes': 'notifications',
  'reason.logout': 'signed out by the user',
  'reason.revoked': 'revoked',
  'result.done': 'done',
  'result.failed': 'failed',
  'result.unknown': 'unknown tool',
  'result.bad arguments': 'invalid arguments',
  'result.blocked: in a room': 'blocked: in a room',
  'result.blocked: needs a confirmation': 'blocked: needs a confirmation',
  'result.blocked: declined by the user': 'blocked: declined by the user',
  'was.on': 'on',
  'was.set_up': 'setup not completed',
  'what.rows': 'database',
  'what.contents': 'contents',
} as const

const named = catalogue(values, {
  'allow.code': 'Programmcode installieren',
  'kind.session': 'Browser',
  'kind.sync': 'Gerät',
  'of.files': 'Dateien',
  'of.rows': 'Zeilen',
  'of.chat': 'Chat',
  'of.components': 'Komponenten',
  'of.assistant': 'Assistent',
  'of.pushes': 'Benachrichtigungen',
  'reason.logout': 'vom Benutzer abgemeldet',
  'reason.revoked': 'widerrufen',
  'result.done': 'ausgeführt',
  'result.failed': 'fehlgeschlagen',
  'result.unknown': 'unbekanntes Werkzeug',
  'result.bad arguments': 'ungültige Argumente',
  'result.blocked: in a room': 'blockiert: in einem Raum',
  'result.blocked: needs a confirmation': 'blockiert: Bestätigung erforderlich',
  'result.blocked: declined by the user': 'blockiert: vom Benutzer abgelehnt',
  'was.on': 'an',
  'was.set_up': 'Einrichtung nicht abgeschlossen',
  'what.rows': 'Datenbank',
  'what.contents': 'Inhalte',
})

const has = <T extends object>(of: T, key: string): key is keyof T & string => Object.hasOwn(of, key)

const jobs = { create: 'job_create', verify: 'job_verify', drill: 'job_drill' } as const
const roles = { user: 'role_user', admin: 'role_admin' } as const
const sources = {
  system: 'source_system',
  added: 'source_added',
  installed: 'source_installed',
  custom: 'source_custom',
} as const

const times: readonly string[] = ['expires_at', 'exported_at', 'state_of', 'until']
const sizes: readonly string[] = ['added_bytes', 'bytes', 'quota_bytes']

function timeText(value: string): string {
  const time = new Date(/^\d+$/.test(value) ? Number(value) : value)
  return Number.isNaN(time.getTime()) ? value : formatDateTime(time)
}

function listText(value: string): string {
  try {
    return (JSON.parse(value) as unknown[]).join(', ')
  } catch {
    return value
  }
}

function valueText({ name, value }: Detail): string {
  const key = `${name}.${value}`
  if (has(values, key)) return named(key)
  if (name === 'job' && has(jobs, value)) return words(jobs[value])
  if (name === 'role' && has(roles, value)) return words(roles[value])
  if (name === 'source' && has(sources, value)) return words(sources[value])
  if (name === 'schedule' && value === 'off') return words('off')
  if (name === 'quota_bytes' && value === 'null') return words('quota_default')
  if (name === 'quota_bytes' && value === '-1') return words('quota_none')
  if (value === 'null') return '–'
  if (value === 'true') return words('yes')
  if (value === 'false') return words('no')
  if (times.includes(name)) return timeText(value)
  if (sizes.includes(name) && /^\d+$/.test(value)) return formatSize(Number(value))
  if (name === 'ids' || name === 'fields') return listText(value)
  return value
}

/** The details of an event in words; unknown ones of a newer server are shown by their names. */
export const detailText = (details: readonly Detail[]): string =>
  details
    .filter(({ value }) => value !== '')
    .map((detail) => `${has(labels, detail.name) ? label(detail.name) : detail.name}: ${valueText(detail)}`)
    .join(' · ')
