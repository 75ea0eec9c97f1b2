import { iso } from '../../base/clock.ts'
import { printable } from '../../base/text.ts'
import { admin } from '../../contract/admin.ts'
import { badRequest } from '../../contract/errors.ts'
import { kindsLike } from '../../domain/instance/audit-kinds.ts'
import type { StoredEntry } from '../../domain/instance/instance.ts'
import { handle } from '../handler.ts'
import { parseTimeParam } from './time-param.ts'
import { pageSize } from './list-page.ts'

function kindsOf(text: string): string[] {
  const kinds = text.split(',').flatMap((part) => {
    const found = kindsLike(part.trim())
    if (found.length === 0) throw badRequest('kinds', `"${printable(part)}" is no kind of entry`)
    return found
  })
  return [...new Set(kinds)]
}

function afterOf(text: string): { at: number; id: number } {
  const [at, id] = text.split('-').map(Number)
  return { at: at!, id: id! }
}

const valueText = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value))

function viewOf({ id, at, kind, actor, target, ip, user_agent, detail }: StoredEntry) {
  const fields = detail === null ? {} : (JSON.parse(detail) as Record<string, unknown>)
  return {
    entry_id: id,
    at: iso(at),
    kind,
    actor,
    target,
    ip,
    user_agent,
    detail: Object.entries(fields).map(([name, value]) => ({ name, value: valueText(value) })),
  }
}

export const audit = handle(admin.actions.audit, async ({ params, domain }) => {
  const { user, kinds, after } = params
  const [since, until] = [parseTimeParam('since', params.since), parseTimeParam('until', params.until)]
  const size = pageSize(params.limit)
  const found = await domain.instance.audit.list({
    ...(user !== undefined && { user: user.trim().toLowerCase() }),
    ...(kinds !== undefined && { kinds: kindsOf(kinds) }),
    ...(since !== undefined && { since }),
    ...(until !== undefined && { until }),
    ...(after !== undefined && { after: afterOf(after) }),
    // One extra entry tells whether there is a next page.
    limit: size + 1,
  })
  const entries = found.slice(0, size)
  const last = entries.at(-1)
  return { entries: entries.map(viewOf), next: found.length > size && last ? `${last.at}-${last.id}` : null }
})
