import { pluralize } from '../../base/counts.ts'
import { formatCsv, type Field } from '../../base/csv.ts'
import { formatSize } from '../../base/sizes.ts'
import type { AccountUsage, UsageReport } from '../../domain/instance/instance.ts'
import { usageOrders as orders, type UsageOrder } from '../../domain/instance/usage-order.ts'
import { command, flag, type FlagSpec } from '../command.ts'
import { usage } from '../exit.ts'
import type { Column, Io } from '../io.ts'

const share: FlagSpec<number | undefined> = {
  summary: 'only accounts that use at least this share of their quota',
  value: 'PERCENT',
  parse(text) {
    const match = /^(\d{1,6})%?$/.exec(text)
    if (!match) throw usage(`must be a percentage such as 80%, not "${text}"`)
    return Number(match[1])
  },
}

export const report = command({
  name: 'quota report',
  summary: 'Show what accounts use, their quotas, and when these will be full',
  details:
    'USED counts towards the quota: own files and those stored in rooms, but not the trash and versions. DATA is what an account stores ' +
    'besides files: rows, messages, components and conversations. It has limits of its own: svc config list. FULL IN assumes the ' +
    'growth of the last 30 days. It appears after some days, because a running server records the usage once a day.',
  needs: 'domain',
  onlyPrints: true,
  args: {},
  flags: {
    sort: flag.choice('order (used)', Object.keys(orders).join('|'), Object.keys(orders) as UsageOrder[]),
    over: share,
    format: flag.choice('output format (table)', 'table|json|csv', ['table', 'json', 'csv']),
  },
  examples: [
    'svc quota report',
    'svc quota report --sort percent --over 80%',
    'svc quota report --format csv > usage.csv',
  ],
  async run({ io, domain: { instance }, directory, flags }) {
    const { sort = 'used', over = 0, format = io.json ? 'json' : 'table' } = flags
    if (io.json && format !== 'json')
      throw usage(`--json and --format ${format} contradict each other: give one of them.`)
    const { diskSpace } = await import('../../host/disk-space.ts')
    const { accounts, total, default_quota } = await instance.usage.report()
    const disk = await diskSpace(directory.path)
    const shown = accounts.filter(({ percent }) => over === 0 || (percent ?? -1) >= over).sort(orders[sort])
    if (format === 'csv') return io.raw(csvOf(shown))
    if (format === 'json')
      return io.raw(`${JSON.stringify(documentOf(shown, { total, default_quota }, disk), null, 2)}\n`)
    if (shown.length === 0)
      return io.info(over > 0 ? `No account uses ${over} % of its quota.` : 'There are no accounts yet.')
    // Omit the sum if only part of the accounts is shown: it would be misread.
    const lines: Line[] = over > 0 ? shown : [...shown, { ...total, title: `${accounts.length} accounts` }]
    io.table(lines, columns, '')
    io.event(`\n${diskLine(disk, total.growth)}`, undefined)
    warnOfDrift(io, accounts)
  },
})

type Line = AccountUsage | (UsageReport['total'] & { title: string })
const isAccount = (line: Line): line is AccountUsage => 'username' in line

const columns: Column<Line>[] = [
  { title: 'USER', value: (line) => (isAccount(line) ? line.username : line.title) },
  { title: 'USED', value: ({ used_bytes }) => formatSize(used_bytes), align: 'right' },
  { title: 'QUOTA', value: (line) => (isAccount(line) ? quotaText(line) : ''), align: 'right' },
  { title: '%', value: (line) => (isAccount(line) ? (line.percent ?? '') : ''), align: 'right' },
  { title: 'FILES', value: ({ files }) => files, align: 'right' },
  { title: 'IN ROOMS', value: ({ room_bytes }) => formatSize(room_bytes), align: 'right' },
  { title: 'TRASH', value: ({ trash_bytes }) => formatSize(trash_bytes), align: 'right' },
  { title: 'VERSIONS', value: ({ versions_bytes }) => formatSize(versions_bytes), align: 'right' },
  { title: 'DATA', value: (line) => formatSize(dataBytes(line)), align: 'right' },
  { title: 'GROWTH', value: ({ growth }) => (growth === null ? '' : growthText(growth)), align: 'right' },
  { title: 'FULL IN', value: (line) => (isAccount(line) ? fullText(line.full_in_days) : ''), align: 'right' },
]

const dataBytes = ({ rows_bytes, chat_bytes, components_bytes, assistant_bytes }: Line): number =>
  rows_bytes + chat_bytes + components_bytes + assistant_bytes

const quotaText = ({ effective_quota }: AccountUsage): string =>
  effective_quota < 0 ? 'none' : formatSize(effective_quota)

const growthText = (bytes: number): string => `${bytes < 0 ? '-' : '+'}${formatSize(Math.abs(bytes))}/d`

function fullText(days: number | null): string {
  if (days === null) return ''
  if (days === 0) return 'full'
  return pluralize(days, 'day')
}

function diskLine({ free, total }: { free: number; total: number }, growth: number | null): string {
  const days = growth !== null && growth > 0 ? Math.floor(free / growth) : Infinity
  const end = days < 3_650 ? `, enough for ${pluralize(days, 'day')} at this growth` : ''
  return `Disk: ${formatSize(free)} of ${formatSize(total)} free${end}.`
}

function warnOfDrift(io: Io, accounts: readonly AccountUsage[]): void {
  const wrong = accounts.filter((one) => one.used_bytes !== one.own_bytes + one.room_bytes)
  if (wrong.length === 0) return
  const names = wrong.length === 1 ? wrong[0]!.username : `${wrong.length} accounts`
  io.warn(`The counts of ${names} do not match their files: svc quota recount corrects them.`)
}

const fields = {
  username: ({ username }) => username,
  used_bytes: ({ used_bytes }) => used_bytes,
  quota_bytes: ({ effective_quota }) => (effective_quota < 0 ? null : effective_quota),
  quota_is_default: ({ quota_bytes }) => quota_bytes === null,
  percent: ({ percent }) => percent,
  files: ({ files }) => files,
  own_bytes: ({ own_bytes }) => own_bytes,
  room_bytes: ({ room_bytes }) => room_bytes,
  trash_bytes: ({ trash_bytes }) => trash_bytes,
  versions_bytes: ({ versions_bytes }) => versions_bytes,
  growth_bytes_per_day: ({ growth }) => growth,
  full_in_days: ({ full_in_days }) => full_in_days,
  rows_bytes: ({ rows_bytes }) => rows_bytes,
  chat_bytes: ({ chat_bytes }) => chat_bytes,
  components_bytes: ({ components_bytes }) => components_bytes,
  assistant_bytes: ({ assistant_bytes }) => assistant_bytes,
} satisfies Record<string, (account: AccountUsage) => string | number | boolean | null>

function csvOf(accounts: readonly AccountUsage[]): string {
  const field = (value: string | number | boolean | null): Field => (value === null ? null : String(value))
  const rows = accounts.map((account) => Object.values(fields).map((read) => field(read(account))))
  return formatCsv([Object.keys(fields), ...rows])
}

function documentOf(
  accounts: readonly AccountUsage[],
  { total: { growth, ...sums }, default_quota }: Omit<UsageReport, 'accounts'>,
  disk: { free: number; total: number },
) {
  return {
    accounts: accounts.map((account) =>
      Object.fromEntries(Object.entries(fields).map(([name, read]) => [name, read(account)])),
    ),
    total: { ...sums, growth_bytes_per_day: growth },
    default_quota_bytes: default_quota < 0 ? null : default_quota,
    disk: { free_bytes: disk.free, total_bytes: disk.total },
  }
}
