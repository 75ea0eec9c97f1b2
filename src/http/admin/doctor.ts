import { admin } from '../../contract/admin.ts'
import { handle } from '../handle.ts'
import type { Machine } from '../machine.ts'

export function doctor({ examine }: Machine) {
  // Some checks take seconds: those who ask meanwhile hear the same.
  let under: ReturnType<Machine['examine']> | undefined
  return handle(admin.actions.doctor, async () => {
    under ??= examine().finally(() => (under = undefined))
    return { checks: (await under).map((finding) => ({ ...finding, remedy: finding.remedy ?? null })) }
  })
}
