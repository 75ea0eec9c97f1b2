import { flag, type FlagSpec } from '../command.ts'

type Quota = number | 'default'

/** A quota: bytes, -1 for none, or `default`. */
export function quotaFlag(): FlagSpec<Quota | undefined> {
  const { parse } = flag.size('')
  return {
    summary: 'storage such as 10GB, none, or default',
    value: 'SIZE',
    parse: (text) => (text === 'default' ? text : parse!(text)),
  }
}

/** The quota as stored: null follows the default. */
export const storedQuota = (quota: Quota): number | null => (quota === 'default' ? null : quota)
