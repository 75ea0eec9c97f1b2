import { isAddressOrRange, isListenHost } from './addresses.ts'
import { Cron } from 'croner'
import { formatSize, parseSize } from '../../base/sizes.ts'
import { SLUG } from '../../contract/slug.ts'
import { limits } from '../../contract/limits.ts'
import { parsePostgresAddress } from '../../storage/engine/postgres-address.ts'
import { apiKey, declaredModels, modelServer, type DeclaredModel } from './assistant-options.ts'

const MB = 1_048_576
const GB = 1_024 * MB

/** The type of an option: parsing and formatting. */
interface Kind<T> {
  name: string
  /** Parses a value; throws an error with the reason. */
  parse(text: string): T
  show(value: T): string
}

export type { DeclaredModel } from './assistant-options.ts'

export interface Option<T = unknown> {
  kind: Kind<T>
  standard: T
  summary: string
  /** Stored in the database, effective at once in every process. Others are read at start. */
  live: boolean
  /** Masked in output. */
  secret?: true
}

const boolean: Kind<boolean> = {
  name: 'on|off',
  parse(text) {
    if (/^(on|true|yes|1)$/i.test(text)) return true
    if (/^(off|false|no|0)$/i.test(text)) return false
    throw new Error(`must be on or off, not "${text}"`)
  },
  show: (value) => (value ? 'on' : 'off'),
}

const integer = (min: number, max: number): Kind<number> => ({
  name: `${min}..${max}`,
  parse(text) {
    const value = Number(text)
    if (!/^\d+$/.test(text) || value < min || value > max)
      throw new Error(`must be a whole number from ${min} to ${max}, not "${text}"`)
    return value
  },
  show: String,
})

const share: Kind<number> = {
  name: '0..1',
  parse(text) {
    const value = Number(text)
    if (!/^(0|1|[01]?\.\d{1,3})$/.test(text) || value > 1) throw new Error(`must be a share from 0 to 1, not "${text}"`)
    return value
  },
  show: String,
}

const size: Kind<number> = {
  name: 'SIZE|none',
  parse(text) {
    const bytes = text === 'none' ? -1 : parseSize(text)
    if (bytes === undefined) throw new Error(`must be a size such as 10GB, or none, not "${text}"`)
    return bytes
  },
  show: (bytes) => (bytes < 0 ? 'none' : formatSize(bytes).replace(' ', '')),
}

const text = (pattern: RegExp, meaning: string): Kind<string> => ({
  name: meaning,
  parse(value) {
    if (value !== '' && !pattern.test(value)) throw new Error(`must be ${meaning}, not "${value}"`)
    return value
  },
  show: String,
})

const oneOf = (...choices: string[]): Kind<string> => ({
  name: choices.join('|'),
  parse(value) {
    if (!choices.includes(value)) throw new Error(`must be ${choices.join(' or ')}, not "${value}"`)
    return value
  },
  show: String,
})

const list = (fits: (item: string) => boolean, meaning: string): Kind<string[]> => ({
  name: `${meaning},…`,
  parse(value) {
    const items = value
      .split(',')
      .map((item) => item.trim())
      .filter(Boolean)
    const wrong = items.find((item) => !fits(item))
    if (wrong !== undefined) throw new Error(`must be a list of ${meaning}, and "${wrong}" is none`)
    return items
  },
  show: (items) => items.join(','),
})

/** Listen address. A host name is resolved at start. */
const listenHost: Kind<string> = {
  name: 'a host name or address',
  parse(value) {
    if (value !== '' && !isListenHost(value)) throw new Error(`must be a host name or address, not "${value}"`)
    return value
  },
  show: String,
}

// A relative path would depend on the working directory of the process.
const BACKUPS = /^(\/|[A-Za-z]:[\\/]|s3:\/\/)\P{Cc}*$/u

/** A cron expression: minute, hour, day of month, month, day of week. */
const cron: Kind<string> = {
  name: 'CRON|off',
  parse(value) {
    const pattern = value.trim().replace(/\s+/g, ' ')
    if (pattern === 'off' || pattern === '') return ''
    try {
      if (!new Cron(pattern, { mode: '5-part', paused: true }).nextRun()) throw new Error('it never comes')
      return pattern
    } catch {
      throw new Error(`must be five fields as in "30 3 * * *" (every night at 3:30), or off, not "${value}"`)
    }
  },
  show: (value) => value || 'off',
}

/** URL of a database. Error messages omit it: it may contain a password. */
const postgres: Kind<string> = {
  name: 'postgres://USER:PASSWORD@HOST/NAME',
  parse(value) {
    if (value !== '' && !parsePostgresAddress(value))
      throw new Error(
        'must be an address as postgres://USER:PASSWORD@HOST/NAME or postgres://USER:PASSWORD@HOST,HOST/NAME',
      )
    return value
  },
  show: String,
}

/** Public URL. Error messages omit it: it may contain a password. */
const origin: Kind<string> = {
  name: 'https://HOST[:PORT]',
  parse(value) {
    if (value === '') return value
    const url = URL.canParse(value) ? new URL(value) : undefined
    if (url && (url.username || url.password)) throw new Error('must not contain a user name or a password')
    if (!url || !/^https?:\/\/[^/?#@\s\\]+$/i.test(value) || url.port === '0')
      throw new Error('must be a URL without a path, such as https://cloud.example.org')
    return url.origin
  },
  show: String,
}

const atStart = <T>(kind: Kind<T>, standard: T, summary: string): Option<T> => ({
  kind,
  standard,
  summary,
  live: false,
})
const live = <T>(kind: Kind<T>, standard: T, summary: string): Option<T> => ({ kind, standard, summary, live: true })

const MODEL = text(/^[\w./:@+-]{1,200}$/, 'the name of a model')

const HTTPS_ORIGIN = /^https:\/\/([a-z0-9-]+(\.[a-z0-9-]+)*|\[[0-9a-f:.]+\])(:\d{1,5})?$/i

type RateLimits = { [name in keyof typeof limits as `limits.${name}`]: Option<number> }

const rateLimits = Object.fromEntries(
  Object.entries(limits).map(([name, max]) => [
    `limits.${name}`,
    live(
      integer(1, 1_000_000),
      max,
      name === 'cost'
        ? 'What an account may spend per minute on expensive requests; the API reference lists their costs'
        : `Requests per minute: ${name.replace('_', ' ')}`,
    ),
  ]),
) as RateLimits

/** All settings of the service, as listed by `svc config`. */
export const options = {
  host: atStart(listenHost, '127.0.0.1', 'Address to listen on'),
  port: atStart(integer(0, 65_535), 8_420, 'Port to listen on; 0 chooses a free one'),
  public_url: atStart(origin, '', 'URL under which users reach the service'),
  allowed_hosts: atStart(
    list((item) => /^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/i.test(item), 'host names'),
    [] as string[],
    'Host names under which requests are answered, in addition to that of the public URL, addresses and localhost',
  ),
  database: {
    ...atStart(
      postgres,
      '',
      'Postgres server for the rows; without one they are stored in the data directory, in SQLite',
    ),
    secret: true,
  },
  blobs: atStart(
    text(/^s3:\/\/\S+$/, 'an address as s3://BUCKET/PREFIX?endpoint=URL&region=NAME'),
    '',
    'S3 bucket for the contents of large files; without one they are stored in the data directory',
  ),
  trusted_proxies: atStart(
    list(isAddressOrRange, 'addresses or CIDR ranges'),
    [] as string[],
    'Proxies whose X-Forwarded-For header is trusted',
  ),
  connections_per_address: atStart(
    integer(1, 100_000),
    1_024,
    'Connections that one address may have at a time; trusted proxies may have any number',
  ),
  request_timeout: atStart(
    integer(1, 600),
    30,
    'Seconds in which a request must arrive; bodies gain time with each byte',
  ),
  log_level: atStart(oneOf('debug', 'info', 'warn', 'error', 'silent'), 'info', 'Minimum level of the log'),
  log_format: atStart(oneOf('auto', 'json', 'pretty'), 'auto', 'Format of the log; auto is pretty on a terminal'),
  metrics: atStart(oneOf('loopback', 'on', 'off'), 'loopback', 'Who can read /metrics: this machine, anyone, nobody'),
  'api.public_docs': atStart(
    boolean,
    true,
    'Whether anyone may read the description of the API, /api/docs and /api/openapi.json',
  ),
  'limits.enabled': live(boolean, true, 'Whether rate limits apply; the account lockout always does'),
  ...rateLimits,
  'auth.device_idle_days': live(integer(0, 36_500), 90, 'Days without use after which a device token ends; 0 never'),
  'auth.device_max_days': live(integer(0, 36_500), 365, 'Days after which a device token ends in any case; 0 never'),
  'quota.default': live(size, -1, 'Quota of users without one of their own'),
  'quota.history': live(share, 0.5, 'Share of the quota that deleted and overwritten files may use in addition'),
  'files.max_nodes': live(integer(1, 100_000_000), 500_000, 'Maximum number of files and folders of one user'),
  'files.max_size': live(size, -1, 'Largest single file; none for no limit'),
  'thumbnails.max_bytes': live(
    size,
    GB,
    'Disk space for thumbnails, which are not part of backups; 0 turns them off, none for no limit',
  ),
  'rows.max_bytes': live(
    size,
    GB,
    'Bytes of rows (notes, documents, tasks …) that an account may keep; none for no limit',
  ),
  'rows.max_rows': live(integer(0, 1_000_000_000), 1_000_000, 'Rows that an account may keep'),
  'chat.max_bytes': live(
    size,
    GB,
    'Bytes of messages and reactions that an account may keep in rooms; none for no limit',
  ),
  'components.max_bytes': live(
    size,
    GB / 4,
    'Bytes of components, with their versions and profiles, that an account may keep; none for no limit',
  ),
  'assistant.max_bytes': live(
    size,
    GB,
    'Bytes of conversations with the assistant that an account may keep; none for no limit',
  ),
  'retention.tombstones_max': live(
    integer(1_000, 1_000_000_000),
    250_000,
    'Maximum number of deleted rows in the change feed of an account',
  ),
  'retention.pushes_max': live(
    size,
    64 * MB,
    'Bytes of answers to pushes that are kept per account; none for no limit',
  ),
  'retention.audit_max': live(
    integer(1_000, 1_000_000_000),
    100_000,
    'Maximum number of entries in the audit log caused by one account',
  ),
  disabled_apps: live(
    list((item) => SLUG.test(item), 'names (slugs) of apps'),
    [] as string[],
    'Apps that are hidden from all users',
  ),
  'apps.allowed_origins': live(
    list((item) => HTTPS_ORIGIN.test(item), 'https origins'),
    [] as string[],
    'Other origins from which apps may be loaded',
  ),
  'retention.tombstones_days': live(integer(1, 36_500), 180, 'Days that the change feed keeps deleted rows'),
  'backup.to': live(text(BACKUPS, 'an absolute path, or s3://BUCKET'), '', 'Folder or S3 bucket of the backups'),
  'backup.schedule': live(cron, '', 'When the server makes backups, in cron syntax'),
  'backup.keep_last': live(integer(0, 10_000), 3, 'Newest backups that are kept when old ones are removed'),
  'backup.keep_daily': live(integer(0, 10_000), 7, 'Days of which the newest backup is kept'),
  'backup.keep_weekly': live(integer(0, 10_000), 4, 'Weeks of which the newest backup is kept'),
  'backup.keep_monthly': live(integer(0, 10_000), 12, 'Months of which the newest backup is kept'),
  'retention.versions_days': live(integer(1, 36_500), 30, 'Days that deleted and overwritten files can be restored'),
  'assistant.name': live(
    text(/^[a-z0-9][a-z0-9_-]{0,31}$/i, 'a short name of letters and digits'),
    'assistant',
    'Name of the assistant: it answers messages with @NAME in a room',
  ),
  'assistant.base_url': live(
    modelServer,
    '',
    'Address of the model server: Anthropic, or any that is compatible with OpenAI',
  ),
  'assistant.api_key': {
    ...live(apiKey, '', 'API key for the model server; often not needed for your own'),
    secret: true,
  },
  'assistant.chat_model': live(MODEL, '', 'Model that answers'),
  'assistant.agent_model': live(MODEL, '', 'Model that works with tools; the chat model if empty'),
  'assistant.vision_model': live(MODEL, '', 'Model that understands pictures'),
  'assistant.models': live(
    declaredModels,
    [] as DeclaredModel[],
    'Further models, with capabilities that cannot be detected',
  ),
  'assistant.run_command': live(
    oneOf('auto', 'off', 'on'),
    'auto',
    'Whether the assistant may run commands in a sandbox; auto: if one is available',
  ),
  'assistant.daily_tokens': live(
    integer(0, 1_000_000_000),
    0,
    'Tokens that a user may use per day (UTC); 0 for no limit',
  ),
} as const

export type Options = typeof options
export type OptionName = keyof Options
export type Values = { [name in OptionName]: Options[name] extends Option<infer T> ? T : never }

export const isOption = (name: string): name is OptionName => Object.hasOwn(options, name)

/** The environment variable of an option: `limits.sync_upload` is `SVC_LIMITS_SYNC_UPLOAD`. */
export const variableOf = (name: OptionName): string =>
  name === 'limits.enabled' ? 'SVC_LIMITS' : `SVC_${name.toUpperCase().replaceAll('.', '_')}`
