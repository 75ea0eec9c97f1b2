import { documentOf } from '../../domain/accounts/user-document.ts'
import type { Domain } from '../../domain/domain.ts'

/** How the account of this id stands. Fault `not_found`. */
export async function shownUser({ accounts }: Domain, id: number) {
  const { username } = await accounts.twoFactor.status(id)
  return documentOf(await accounts.details(username))
}
