import type { AccountUsage } from './usage.ts'

/** Orders of accounts by usage, largest first, or by name. */
export const usageOrders = {
  used: (a: AccountUsage, b: AccountUsage) => b.used_bytes - a.used_bytes,
  name: () => 0,
  percent: (a: AccountUsage, b: AccountUsage) => (b.percent ?? -1) - (a.percent ?? -1),
  growth: (a: AccountUsage, b: AccountUsage) => (b.growth ?? -Infinity) - (a.growth ?? -Infinity),
}

export type UsageOrder = keyof typeof usageOrders
