import { DAY } from '../../base/clock.ts'
import { admin } from '../../contract/admin.ts'
import type { UserFilter, UserOrder } from '../../domain/accounts/accounts.ts'
import { documentOf } from '../../domain/accounts/user-document.ts'
import { handle } from '../handler.ts'
import { pageOf } from './list-page.ts'

const states: Record<string, UserFilter> = {
  enabled: { disabled: false },
  disabled: { disabled: true },
  locked: { locked: true },
}

export const users = handle(admin.actions.users, async ({ params, domain }) => {
  const { search, role, state, without_2fa, inactive_days, sort, reverse } = params
  const found = await domain.accounts.list({
    search,
    role: role as UserFilter['role'],
    ...(state === undefined ? {} : states[state]),
    without2fa: without_2fa,
    inactive: inactive_days === undefined ? undefined : inactive_days * DAY,
    sort: sort as UserOrder | undefined,
    reverse,
  })
  return { users: pageOf(found, params).map(documentOf), total: found.length }
})
