import { formatCount } from '../base/counts.ts'
import type { Item } from '../domain/seed/seed.ts'

const PLURAL: Record<Item['kind'], string> = {
  setting: 'settings',
  app: 'apps',
  user: 'users',
  row: 'rows',
  component: 'components',
  file: 'files and folders',
  room: 'rooms',
  member: 'members of rooms',
  message: 'messages',
}

/** For example `Added 3 users and 1,204 rows, changed 1 setting; 40 unchanged.` */
export function seedSummary(items: readonly Item[], unchanged: number): string {
  const countedKinds = (action: Item['action']): string[] => {
    const counts = new Map<Item['kind'], number>()
    for (const item of items) if (item.action === action) counts.set(item.kind, (counts.get(item.kind) ?? 0) + 1)
    return [...counts].map(([kind, count]) => `${formatCount(count)} ${count === 1 ? singular(kind) : PLURAL[kind]}`)
  }
  const [added, changed, kept] = [countedKinds('add'), countedKinds('change'), countedKinds('keep')]
  const done = [
    ...(added.length > 0 ? [`added ${joinWithAnd(added)}`] : []),
    ...(changed.length > 0 ? [`changed ${joinWithAnd(changed)}`] : []),
  ]
  const rest = [
    ...(kept.length > 0 ? [`left ${joinWithAnd(kept)} as people made them`] : []),
    ...(unchanged > 0 ? [`${formatCount(unchanged)} unchanged`] : []),
  ]
  const text = [...(done.length > 0 ? [done.join(', ')] : ['nothing was changed']), ...rest].join('; ')
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`
}

const singular = (kind: Item['kind']): string =>
  kind === 'member' ? 'member of a room' : kind === 'file' ? 'file or folder' : kind

const joinWithAnd = (parts: readonly string[]): string =>
  parts.length < 2 ? parts.join('') : `${parts.slice(0, -1).join(', ')} and ${parts.at(-1)}`
