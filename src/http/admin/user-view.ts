import { documentOf } from '../../domain/accounts/user-document.ts'
import type { Domain } from '../../domain/domain.ts'

/** An account as administrators see it. Fault `not_found`. */
export async function userView({ accounts }: Domain, id: number) {
  const { username } = await accounts.twoFactor.status(id)
  return documentOf(await accounts.details(username))
}
