import type { Domain } from '../../domain/domain.ts'
import type { HandedOver } from '../../domain/accounts/accounts.ts'
import { quotaOf } from './list-page.ts'

/** The account that takes over the files of a removed one; null when there is none. */
export async function heirView(
  { accounts }: Domain,
  heir: number | undefined,
  handedOver: Pick<HandedOver, 'folder' | 'used_bytes' | 'quota_bytes'> | undefined,
) {
  if (heir === undefined || handedOver === undefined) return null
  const { username } = await accounts.twoFactor.status(heir)
  const { folder, used_bytes, quota_bytes } = handedOver
  return { username, folder, used_bytes, quota_bytes: quotaOf(quota_bytes) }
}
