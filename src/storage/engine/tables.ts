import type { ColumnType } from 'kysely'
import type {
  AssistantConfirmationRow,
  AssistantConversationRow,
  AssistantMentionRow,
  AssistantMessageRow,
  AssistantUsageRow,
} from './assistant-rows.ts'
import type {
  DeletedMessageRow,
  EndedMembershipRow,
  MessageRow,
  ReactionRow,
  RoomMemberRow,
  RoomRow,
} from './chat-rows.ts'
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

// Stored rows. Times are epoch ms unless the name or a comment says otherwise, booleans 0 or 1.

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
  /** Latest activity in the chat; 0 for never. */
  last_active: Default<number>
  created_at: number
  updated_at: number
}

export interface SecondFactorRow {
  user_id: number
  /** Encrypted TOTP secret; null until enabled. */
  secret: string | null
  pending_secret: string | null
  pending_at: number | null
  enabled_at: number | null
  /** The last TOTP step accepted; only later ones are (RFC 6238, section 5.2). */
  last_step: number
  /** The step that enabled the factor: it may be used for one login, and for nothing else. */
  enrolled_step: number
  /** Consecutive wrong codes, over all logins. */
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
  /** Expiry of short-lived tokens; null if only the settings apply. */
  expires_at: number | null
  /** 1 if it may install code on the desktop, as a session may. */
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
  /** Keyed hash of the submitted user name, so that names without an account are not stored. */
  name_hash: string
  /** Times of the counted failures, oldest first, as a JSON array: exact over a sliding window of 15 minutes. */
  failed_at: string
  locked_until: number
  /** The row has no meaning afterwards. */
  expires_at: number
}

export interface NodeRow {
  id: Key
  user_id: number
  /** Null only for the root of an account or a room. */
  parent_id: number | null
  /** The room of a shared file, null for own files; `user_id` is then the uploader. */
  room_id: number | null
  name: string
  /** The name in Unicode NFC, unique within a folder. */
  name_key: string
  type: 'file' | 'directory'
  sha256: string | null
  size: number
  /** Seconds, as in the API. */
  mtime: number
  version: number
  created_at: number
  updated_at: number
  /** The trash entry of a deleted node, also set on everything below it. */
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
  /** When the work on an unfinished entry last continued. */
  proceeded_at: ColumnType<number, number | undefined, number>
}

/**
 * State of the nodes of an entry. `kept` is final; the others are processed in slices: `marking` (deleted: nodes below
 * must be marked), `erasing` (the same, then dropped), `dropping` (being deleted for good), `staging` (a copy being
 * made; dropped if abandoned) and `reviving` (live again: nodes below must be unmarked).
 */
export type TrashState = 'kept' | 'marking' | 'erasing' | 'dropping' | 'staging' | 'reviving'

export interface ContentRow {
  sha256: string
  size: number
  /** The bytes of a small content; null if the blob store has them. */
  data: Uint8Array | null
  /** When a write last used this content: the collector spares younger ones. */
  touched_at: number
}

export interface CounterRow {
  user_id: number
  /** Head of the account's change feed. */
  seq: number
  /** Cursors below this one have missed tombstones. */
  oldest: number
  /** Bytes of the account's live files. */
  used_bytes: number
}

export interface ChangeRow {
  user_id: number
  tbl: string
  row_id: number
  seq: number
  /** The position where the row first appeared, which distinguishes an INSERT from an UPDATE for any cursor. */
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
  /** The account that gets its files; may be null. */
  heir_id: number | null
  begun_at: number
  /** 1 if its messages stay in shared rooms. */
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
  /** ISO 8601, as in the API: these rows are read far more often than written. */
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
  ended_memberships: EndedMembershipRow
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
  write_locks: { key: number }
  search_queue: { id: Key; tbl: string; row_id: number }
}
