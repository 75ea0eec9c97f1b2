import { limits, LIMIT_WINDOW, type LimitName } from '../../contract/limits.ts'
import { syncStatus } from '../../contract/sync-status.ts'
import { handle } from '../handler.ts'
import { features } from './features.ts'

const names = Object.keys(limits) as LimitName[]

export const capabilities = handle(syncStatus.actions.capabilities, async ({ domain }) => {
  const values = await domain.instance.settings.values()
  const inForce = values['limits.enabled'] ? names : []
  return {
    ...domain.instance.identity,
    features,
    limits: Object.fromEntries(inForce.map((name) => [name, { max: values[`limits.${name}`], per: LIMIT_WINDOW }])),
    retention: {
      tombstones_days: values['retention.tombstones_days'],
      versions_days: values['retention.versions_days'],
    },
  }
})
