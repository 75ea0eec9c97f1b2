/**
 * Requests per action in a sliding window of 60 seconds: per device token, per user for sessions, per address for
 * `anonymous`. These are the defaults; an account may send `DEVICES_AT_ONCE` times as many in total.
 */
export const limits = {
  sync_initial_sync: 5,
  sync_delta: 30,
  sync_push: 30,
  sync_manifest: 10,
  sync_download: 120,
  sync_upload: 60,
  sync_delete: 60,
  sync_mkdir: 30,
  sync_move: 30,
  sync_upload_batch: 30,
  sync_download_batch: 30,
  sync_files_batch: 30,
  rows_list: 60,
  rows_delta: 240,
  rows_push: 120,
  settings_change: 10,
  fs_write: 600,
  fs_archive: 30,
  chat_send: 120,
  chat_create_room: 30,
  chat_presence: 120,
  chat_search: 60,
  search: 300,
  components_save: 60,
  assistant: 20,
  anonymous: 300,
  /** Units of cost, not requests: the limit of an account for all actions with a cost. */
  cost: 1_200,
} as const

export type LimitName = Exclude<keyof typeof limits, 'cost'>

/** Length of every rate-limit window, in seconds. */
export const LIMIT_WINDOW = 60

/** The limit of an account, as a multiple of the limit of a device; independent of its number of devices. */
export const DEVICES_AT_ONCE = 4

/** Lifetime of a browser session in seconds: without use, and in total. */
export const SESSION_LIFETIME = { idle: 86_400, max: 30 * 86_400 } as const

/** Failed logins per address, across all accounts, before further attempts are refused. `per` is in seconds. */
export const ADDRESS_FAILURES = { max: 50, per: 600 } as const

export const PUSH_OPERATIONS = 100
export const DELTA_LIMIT = { default: 1_000, max: 5_000 } as const

/** Longest long poll, in seconds. */
export const MAX_WAIT = 55

/** Largest JSON body in bytes, unless an action declares another limit. */
export const JSON_BODY = 1_048_576
export const PUSH_BODY = 8 * 1_048_576
/** Largest JSON body in bytes of actions without authentication. */
export const OPEN_BODY = 16 * 1_024

export const JSON_DEPTH = 32
/**
 * Maximum number of values in a JSON body, including lists and objects: by default, without authentication, and for a
 * push, whose rows may contain lists. Checked before the body is parsed.
 */
export const JSON_VALUES = 20_000
export const OPEN_VALUES = 200
export const PUSH_VALUES = 50_000

/** Limits of an upload batch: entries, and bytes of the archive. */
export const UPLOAD_BATCH = { max_entries: 1_000, max_bytes: 64 * 1_048_576 } as const
export const DOWNLOAD_BATCH = { max_entries: 1_000 } as const
/** `if_empty`: the deletion of a folder may require that it is empty. */
export const FILES_BATCH = { max_operations: 500, if_empty: true } as const
/** Limits of an archive. IDs of selected items are part of the URL, of which Node and proxies accept about 16 KiB. */
export const ARCHIVE = { max_entries: 100_000, max_chosen: 1_000 } as const
/** Thumbnails: longest edges to choose from, and the largest image that one is made of. */
export const THUMBNAIL = { sizes: [128, 256, 512, 1024], max_bytes: 64 * 1_048_576, max_pixels: 100_000_000 } as const
export const BATCH_BODY = 8 * 1_048_576

/** Bytes of a component, and words that hooks must not contain: help for authors; the sandboxed frame is the boundary. */
export const COMPONENT_CODE = {
  max_bytes: 102_400,
  blocked: ['eval(', 'Function(', 'XMLHttpRequest', 'document.cookie', 'localStorage'],
} as const

/** Limits of a question to the assistant, bytes unless stated otherwise. */
export const ASSISTANT_BODY = 16 * 1_048_576
/** Characters of a question. */
export const ASSISTANT_MESSAGE = 262_144
export const ASSISTANT_HISTORY = { max_items: 50, max_bytes: 262_144 } as const
export const ASSISTANT_CONTEXT = { max_bytes: 16_384, max_depth: 8 } as const
export const ASSISTANT_IMAGE = 8 * 1_048_576

/** Latest modification time, seconds since the epoch: the year 5138. */
export const LATEST_MTIME = 99_999_999_999
