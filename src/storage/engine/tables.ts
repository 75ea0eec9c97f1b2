import type { ColumnType } from 'kysely'
import type {
  AssistantConfirmationRow,
  AssistantConversationRow,
  AssistantMentionRow,
  AssistantMessageRow,
  AssistantUsageRow,
} from './assistant-rows.ts'
import type { ChangeSetItemRow, ChangeSetRow } from './change-set-rows.ts'
import type { DataKind } from './data-kinds.ts'
import type {
  AppFileRow,
  AppReleaseRow,
  AppRow,
  ComponentProfileRow,
  ComponentRow,
  ProfileComponentRow,
} from './desktop-rows.ts'
import type { SeededRow } from './seeded-row.ts'

// The rows as they are stored. Times are epoch milliseconds unless the name or a comment says otherwise, booleans 0 or 1.

type Key = ColumnType<number, number | undefined, never>
type Default<T> = ColumnType<T, T | undefined, T>

export interface UserRow {
  id: Key
  username: string
  display_name: string
  avatar_color: string
  role: 'admin' | 'user'
  password_hash: string
  /** Bytes, -1 for unlimited, null for the default quota. */
  quota_bytes: number | null
  disabled_at: number | null
  last_login_at: number | null
  /** Last time the user was active in the chat, 0 for never. */
  last_active: Default<number>
  created_at: number
  updated_at: number
}

export interface SecondFactorRow {
  user_id: number
  /** Sealed TOTP secret in force; null until enabled. */
  secret: string | null
  pending_secret: string | null
  pending_at: number | null
  enabled_at: number | null
  /** The last TOTP step accepted; only later ones pass (RFC 6238 section 5.2). */
  last_step: number
  /** The step of the code that enabled the factor: it may serve for one login, and for nothing else. */
  enrolled_step: number
  /** Wrong codes in a row, over all logins. */
  failures: number
  locked_until: number
  /** Salt of the account's backup codes, hex; null until enabled. */
  code_salt: string | null
}

export interface BackupCodeRow {
  id: Key
  user_id: number
  hash: string
}

export interface DeviceTokenRow {
  id: Key
  user_id: number
  device_id: string
  device_name: string
  token_hash: string
  created_at: number
  last_used_at: number | null
  last_ip: string | null
  /** An end of its own, for tokens made to be short-lived; null where only the settings decide. */
  expires_at: number | null
  /** 1 where it may plant code on the desktop, as a session may. */
  allows_code: number
}

export interface PendingLoginRow {
  id: Key
  kind: 'sync' | 'session'
  token_hash: string
  user_id: number
  device_id: string | null
  device_name: string | null
  tries: number
  expires_at: number
}

export interface LoginThrottleRow {
  /** Keyed hash of the user name as submitted, so that names nobody has leave no trace. */
  name_hash: string
  /** Times of the failures that count, oldest first, as a JSON array: exact over any window of 15 minutes. */
  failed_at: string
  locked_until: number
  /** From then on the row says nothing any more. */
  expires_at: number
}

export interface NodeRow {
  id: Key
  user_id: number
  /** Null for the root of an account or a room only. */
  parent_id: number | null
  /** The room whose shared file this is, null for own files; `user_id` is then whoever uploaded it. */
  room_id: number | null
  name: string
  /** The name in Unicode NFC: what makes two names of one folder the same. */
  name_key: string
  type: 'file' | 'directory'
  sha256: string | null
  size: number
  /** Seconds, as on the wire. */
  mtime: number
  version: number
  created_at: number
  updated_at: number
  /** Set on everything below a deleted node: the trash entry it belongs to. */
  trash_id: number | null
}

export interface VersionRow {
  id: Key
  node_id: number
  user_id: number
  sha256: string
  size: number
  mtime: number
  version: number
  replaced_at: number
}

export interface TrashRow {
  id: Key
  user_id: number
  node_id: number
  path: string
  deleted_at: number
  state: ColumnType<TrashState, TrashState | undefined, TrashState>
  /** Last time the work of an unfinished entry went on. */
  proceeded_at: ColumnType<number, number | undefined, number>
}

/**
 * What is to be done with the nodes of an entry. `kept` is at rest; the others are unfinished and proceed in slices:
 * `marking` (deleted: what lies below still has to be marked), `erasing` (the same, and then dropped), `dropping` (to be
 * removed for good), `staging` (a copy being made, dropped when it is given up) and `reviving` (live again: what lies below
 * still has to be unmarked).
 */
export type TrashState = 'kept' | 'marking' | 'erasing' | 'dropping' | 'staging' | 'reviving'

export interface ContentRow {
  sha256: string
  size: number
  /** The bytes of a small content; null when the blob store has them. */
  data: Uint8Array | null
  /** Last time a write relied on this content: the collector spares what is younger than its grace. */
  touched_at: number
}

export interface CounterRow {
  user_id: number
  /** Head of the account's change feed. */
  seq: number
  /** Cursors below this one have lost tombstones. */
  oldest: number
  /** Live bytes of the account's files. */
  used_bytes: number
}

export interface ChangeRow {
  user_id: number
  tbl: string
  row_id: number
  seq: number
  /** The position at which the row first appeared, which tells an INSERT from an UPDATE for any cursor. */
  born: number
  deleted: number
  changed_at: number
}

export interface PushedOperationRow {
  user_id: number
  op_id: string
  payload_hash: string
  result: string
  created_at: number
}

export interface IdempotencyKeyRow {
  user_id: number
  key: string
  payload_hash: string
  answer: string
  created_at: number
}

export interface InstanceRow {
  key: string
  value: string
}

export interface RoomRow {
  id: Key
  name: string
  type: 'channel' | 'dm'
  created_by: number
  version: number
  created_at: number
  updated_at: number
  /** The last moment anything happened in the room; it only moves on. */
  stamp: Default<number>
  /** The ids of the two people of a dm, `<lower>:<higher>`; null for channels. */
  pair: string | null
}

export interface RoomMemberRow {
  room_id: number
  user_id: number
  joined_at: number
  /** Messages up to this moment are read. */
  read_at: Default<number>
  last_active: Default<number>
  typing_until: Default<number>
}

export interface MessageRow {
  id: Key
  room_id: number
  user_id: number
  content: string
  timestamp: number
  edited_at: number | null
  reply_to: number | null
  version: number
  is_assistant: Default<number>
  /** The assistant's name, where it said this for the user; null for what users say themselves. */
  spoken_by: ColumnType<string | null, string | null | undefined, string | null>
  client_id: string | null
  /** The content without the difference between upper and lower case: what a search looks at. */
  folded: Default<string>
  /** Last edit or reaction; 0 for never. */
  changed_at: Default<number>
}

export interface SessionRow {
  id: Key
  user_id: number
  token_hash: string
  created_at: number
  last_used_at: number
  ip: string
  user_agent: string
}

export interface SetupLinkRow {
  token_hash: string
  expires_at: number
}

export interface AuditRow {
  id: Key
  at: number
  kind: string
  actor_id: number | null
  /** User name, `system`, or `cli:<uid>` for a command of an administrator. */
  actor: string
  target: string | null
  ip: string | null
  user_agent: string | null
  /** JSON object. */
  detail: string | null
}

export interface DeletedMessageRow {
  message_id: number
  room_id: number
  deleted_at: number
  /** Its author; null when the account is gone, and for messages that ended before this was known. */
  user_id: number | null
}

export interface ReactionRow {
  message_id: number
  user_id: number
  emoji: string
  created_at: number
}

export interface BypassCodeRow {
  user_id: number
  hash: string
  expires_at: number
}

export interface DataUsageRow {
  user_id: number
  kind: DataKind
  items: number
  bytes: number
}

export interface UsageHistoryRow {
  user_id: number
  /** Days since 1970-01-01 UTC. */
  day: number
  used_bytes: number
}

/** An account that is being removed. */
export interface RemovalRow {
  user_id: number
  /** Who gets its files; null when nobody does. */
  heir_id: number | null
  begun_at: number
  /** 1 where its messages stay in rooms of others. */
  keeps_messages: number
}

export interface ReleasedContentRow {
  user_id: number
  sha256: string
  size: number
}

export interface ContentRemovalRow {
  id: Key
  sha256: string
  is_over: number
  /** Epoch milliseconds of the machine. */
  at: number
}

export interface CollectorHoldRow {
  id: string
  expires_at: number
}

/** A row of a synchronised table: the common columns and the declared ones. */
export interface SyncedRow {
  id: Key
  user_id: number
  version: number
  /** ISO 8601, as on the wire: these rows are read far more often than they are written. */
  created_at: string
  updated_at: string
  [column: string]: unknown
}

export interface Tables {
  instance: InstanceRow
  settings: InstanceRow
  users: UserRow
  second_factors: SecondFactorRow
  backup_codes: BackupCodeRow
  device_tokens: DeviceTokenRow
  pending_logins: PendingLoginRow
  login_throttles: LoginThrottleRow
  nodes: NodeRow
  versions: VersionRow
  trash: TrashRow
  contents: ContentRow
  counters: CounterRow
  changes: ChangeRow
  pushed_operations: PushedOperationRow
  idempotency_keys: IdempotencyKeyRow
  rooms: RoomRow
  room_members: RoomMemberRow
  messages: MessageRow
  sessions: SessionRow
  setup_links: SetupLinkRow
  audit: AuditRow
  deleted_messages: DeletedMessageRow
  reactions: ReactionRow
  components: ComponentRow
  component_profiles: ComponentProfileRow
  profile_components: ProfileComponentRow
  apps: AppRow
  bypass_codes: BypassCodeRow
  usage_history: UsageHistoryRow
  data_usage: DataUsageRow
  app_releases: AppReleaseRow
  app_files: AppFileRow
  collector_holds: CollectorHoldRow
  released_contents: ReleasedContentRow
  content_removals: ContentRemovalRow
  assistant_conversations: AssistantConversationRow
  assistant_messages: AssistantMessageRow
  assistant_confirmations: AssistantConfirmationRow
  assistant_usage: AssistantUsageRow
  assistant_mentions: AssistantMentionRow
  seeded: SeededRow
  removals: RemovalRow
  change_sets: ChangeSetRow
  change_set_items: ChangeSetItemRow
}
