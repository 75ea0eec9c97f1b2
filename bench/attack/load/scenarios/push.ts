import { PUSH_OPERATIONS } from '../../../../src/contract/limits.ts'
import { noteOf, numbers } from '../../../samples.ts'
import type { Scenario } from '../scenario.ts'

/** Pushes with the largest number of rows, and of the largest size. */
export const push: Scenario = {
  name: 'push',
  async run({ ask, repeat, size }) {
    const bodyWith = (content: string) =>
      JSON.stringify({
        operations: numbers(PUSH_OPERATIONS).map((number) => ({
          table: 'svc_notes',
          operation: 'INSERT',
          data: { ...noteOf(number), content },
        })),
      })
    const bodies = [bodyWith('Short'), bodyWith('x'.repeat(50_000))]
    await repeat({ atOnce: 40, most: size(200, 40) }, (number) =>
      ask({ path: '/api/sync/data.php?action=push', body: bodies[number % 2]! }),
    )
  },
  allowed: /^(200|413 quota_exceeded|429 rate_limited|503 busy)$/,
  reached: /^200$/,
}
