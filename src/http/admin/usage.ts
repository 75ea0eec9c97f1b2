import { admin } from '../../contract/admin.ts'
import type { AccountUsage } from '../../domain/instance/instance.ts'
import { usageOrders, type UsageOrder } from '../../domain/instance/usage-order.ts'
import { handle } from '../handler.ts'
import type { HostStatus } from '../host-status.ts'
import { pageOf, quotaOf } from './list-page.ts'

const viewOf = ({ effective_quota, quota_bytes, ...account }: AccountUsage) => ({
  ...account,
  quota_bytes: quotaOf(effective_quota),
  quota_is_default: quota_bytes === null,
})

export const usage = ({ disk }: HostStatus) =>
  handle(admin.actions.usage, async ({ params, domain }) => {
    const { sort = 'used', over = 0 } = params
    const [report, space] = await Promise.all([domain.instance.usage.report(), disk()])
    const matching = report.accounts
      .filter(({ percent }) => over === 0 || (percent ?? -1) >= over)
      .sort(usageOrders[sort as UsageOrder])
    return {
      accounts: pageOf(matching, params).map(viewOf),
      matching: matching.length,
      total: { accounts: report.accounts.length, ...report.total },
      default_quota_bytes: quotaOf(report.default_quota),
      disk: { free_bytes: space.free, total_bytes: space.total },
    }
  })
