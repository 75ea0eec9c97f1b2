import { isoOrNull } from '../../base/clock.ts'
import type { Maintenance } from '../../domain/instance/instance.ts'

export const maintenanceView = (declared: Maintenance | undefined) => ({
  maintenance: declared !== undefined,
  read_only: declared?.read_only ?? false,
  message: declared?.message ?? '',
  until: isoOrNull(declared?.until),
})
