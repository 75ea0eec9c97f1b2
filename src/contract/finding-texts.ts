/** Texts of the checks, with `{…}` for values, for `svc doctor` and the desktop, which parses them to translate them. */
export const findingTexts = {
  not_applicable: 'not applicable here',
  backup_failed: 'the last backup failed {time} ago: {message}',
  backup_none: 'no backup was made yet',
  backup_none_there: 'there is none in {place} yet',
  backup_none_own: 'this installation created none in {place} yet; the newest there is {id}',
  backup_unreadable: 'none is recorded in {place}, and whether it contains any is not known: {problem}',
  backup_paused: 'scheduled backups are paused, because this installation was restored from a backup',
  backup_last: '{id} in {place}, {time} ago',
  backup_missing:
    'the last backup {id} is missing in {place}: somebody removed it, or an older copy of the backups is there',
  backup_overdue: '{found}, later than scheduled',
  backup_inside: 'backups in {place} are lost together with the data: they are inside the data directory',
  backup_outside: 'backups go to {place}',
  backup_nowhere: 'no place for backups is set',
  backup_future: '{id} is recorded for {time}, which is in the future: the clock was wrong then, or is wrong now',
  stream_none: 'no stream of changes was begun',
  stream_current: 'everything up to a few seconds ago is in {place}',
  stream_begun: 'the first copy to {place} is not complete yet',
  stream_late: 'the stream to {place} is {time} behind',
  stream_missing: 'contents that cannot be read and are missing in the stream to {place}: {count}',
  stream_failing: 'the stream to {place} cannot write: {message}',
  stream_ended: 'the stream to {place} has ended, and newer changes are in no backup',
  drill_impossible: 'there is no backup yet',
  drill_none: 'no backup was restored in a drill yet',
  drill_last: '{id} was restored and served {time} ago',
  passphrase_untested: 'the passphrase of the backups in {place} was not tested within the last 90 days',
  url_encrypted: 'reached at {url}',
  url_loopback: 'listens on {host} only',
  url_not_encrypted: '{url} is not encrypted',
  url_missing: 'listens on {host} without a public URL',
  proxy_untrusted:
    'requests come through a proxy at {address} that is not trusted: all its clients seem to have one address',
  proxy_trusted: 'trusts the X-Forwarded-For of {addresses}',
  proxy_none: 'no proxy is expected',
  proxy_unnamed: 'all clients seem to come from the proxy: limits and the log know no other address',
  limits_on: 'rate limits are on',
  limits_off: 'rate limits are off',
  quota_set: '{size} for accounts without a quota of their own',
  quota_few: 'no default quota, which is fine for a few accounts',
  quota_missing: '{count} accounts have no quota',
  admins_none: 'there are no administrators',
  admins_protected: 'every administrator has a second factor',
  admin_unprotected: '{names} has no second factor',
  admins_unprotected: '{names} have no second factor',
  admins_local: '{found}, but the service is reached from this machine only',
  settings_sound: 'no setting is weak',
  settings_metrics: 'anyone can read /metrics',
  settings_log: 'nothing is logged',
  settings_tokens: 'device tokens never expire',
  modes_sound: 'only the owner can read the data directory',
  modes_open: 'others can read {paths}',
  owner_sound: 'everything belongs to user {user}',
  owner_foreign: '{paths} belongs to another user',
  location_foreign: '{parent} belongs to user {user}, who could replace {path}',
  location_writable: '{parent} is writable for others, who could replace {path}',
  location_sound: 'no link leads to {path}',
  location_linked: '{path} leads to {real}: anyone who changes a link on the way replaces the data directory',
  disk_few_files: '{found}, but only {count} more files fit',
  disk_free: '{size} free in {path}',
  file_system_unused: 'no rows are in the data directory',
  file_system_local: 'the data directory is on a local file system',
  file_system_network: '{path} is on {kind}, where the locks of a database may not hold',
  clock_wrong: 'the time cannot be {now}',
  clock_set_back:
    'the last entry of the audit log is dated {logged}, and now it is {now}: the clock was ahead then, or is behind now',
  clock_was_ahead: '{now}; the clock was ahead before: the audit log has entries dated up to {logged}',
  clock_offset: 'this clock differs by {seconds} s from that of the database server',
  clock_jumped:
    'old data was last removed at {before}, and the next time the clock said {after}: nothing is removed before {until}, in case the clock is wrong',
  commands_sandboxed: 'commands of the assistant run in a sandbox',
  commands_off: 'the assistant runs no commands: {reason}',
  migrations_applied: 'up to date with {name}',
  storage_sound: 'large files can be read and sent',
  blobs_sound: 'every blob belongs to a file',
  blobs_orphaned: '{count} blobs ({size}) that no file refers to',
  administrator_exists: 'there is an administrator',
  maintenance_off: 'there is no maintenance',
  maintenance_until: 'maintenance is on until {time}',
  maintenance_on: 'maintenance is on, without an end',
  administrator_missing: 'there is no administrator, so nobody can sign in',
  remedy_backup_create: 'svc backup create shows the details',
  remedy_backup_missing: 'find out who can write there, then run svc backup create',
  remedy_backup_overdue: 'keep svc serve running, or run svc backup create',
  remedy_backup_inside: "svc backup schedule '30 3 * * *' --to DIR, with a folder on another disk",
  remedy_backup_future: 'set the clock, then run svc backup create and svc backup drill',
  remedy_backup_schedule: "svc backup schedule '30 3 * * *' makes one every night",
  remedy_public_url: 'put a proxy with TLS in front and run: svc config set public_url https://…',
  remedy_proxy_untrusted: 'svc config set trusted_proxies {addresses}, then restart the server',
  remedy_proxy_unnamed:
    'svc config set trusted_proxies ADDRESS, with the address from which the proxy connects (127.0.0.1 on this machine)',
  remedy_admins: 'ask them to turn it on in their settings',
  remedy_location_foreign: 'chown {user} {parent}, or move the data directory',
  remedy_location_linked: 'use --data-dir {real} (SVC_DATA_DIR), or mount the folder where it is expected',
  remedy_disk: 'free some space, or move the data directory to a larger disk',
  remedy_disk_few_files: 'remove files elsewhere on that disk, or use another',
  remedy_file_system: 'move the data directory to a local disk',
  remedy_clock: 'set the clock, and synchronise it with an NTP client',
  remedy_clock_set_back:
    'set the clock if it is wrong, and synchronise it with an NTP client; if it is right, this ends with the next entry, such as a login',
  remedy_clock_jumped: 'none if the clock is right; otherwise set it before that time',
  remedy_sandbox: 'install bubblewrap and allow user namespaces, or svc config set assistant.run_command off',
  remedy_storage:
    'check that the disk is mounted and writable, or that the store responds; svc storage check --quick names the files concerned',
  remedy_blobs: 'svc storage gc --dry-run shows what it would remove',
  remedy_check_again: 'fix this first, then run svc doctor again',
} as const

export type FindingText = keyof typeof findingTexts

/** The English text, with `{name}` replaced by the values. */
export const findingText = (key: FindingText, values: Readonly<Record<string, string | number>> = {}): string =>
  findingTexts[key].replace(/\{(\w+)\}/g, (whole, name: string) => String(values[name] ?? whole))

/** The reverse of `findingText`; undefined for texts of a newer server and any others. */
export function readFindingText(text: string): { key: FindingText; values: Record<string, string> } | undefined {
  for (const [key, pattern] of patterns) {
    const groups = pattern.exec(text)?.groups
    if (pattern.test(text)) return { key, values: { ...groups } }
  }
  return undefined
}

const escape = (text: string): string => text.replace(/[$()*+.?[\\\]^{|}]/g, String.raw`\$&`)

const patternOf = (text: string): RegExp =>
  new RegExp(
    `^${text
      .split(/\{(\w+)\}/)
      .map((part, index) => (index % 2 ? `(?<${part}>.+)` : escape(part)))
      .join('')}$`,
    's',
  )

/** The most specific patterns first, so that a value does not match the words of another text. */
const patterns = Object.entries(findingTexts)
  .toSorted(([, a], [, b]) => b.replace(/\{\w+\}/g, '').length - a.replace(/\{\w+\}/g, '').length)
  .map(([key, text]) => [key as FindingText, patternOf(text)] as const)
