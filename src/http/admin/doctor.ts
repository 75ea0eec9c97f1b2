import { admin } from '../../contract/admin.ts'
import { handle } from '../handler.ts'
import type { HostStatus } from '../host-status.ts'

export function doctor({ examine }: HostStatus) {
  // Checks can take seconds, so concurrent requests share one run.
  let running: ReturnType<HostStatus['examine']> | undefined
  return handle(admin.actions.doctor, async () => {
    running ??= examine().finally(() => (running = undefined))
    return { checks: (await running).map((finding) => ({ ...finding, remedy: finding.remedy ?? null })) }
  })
}
