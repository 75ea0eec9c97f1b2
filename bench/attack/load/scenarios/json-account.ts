import type { Scenario } from '../scenario.ts'

const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth)

/** Deeply nested and wide JSON of the size of the largest push, by an account. */
export const jsonAccount: Scenario = {
  name: 'json-account',
  async run({ ask, repeat, size }) {
    const length = 7 * 1_048_576
    const bodies = [
      `{"operations":[{"table":"svc_notes","operation":"INSERT","data":{"title":${nested(length / 2)}}}]}`,
      `{"operations":[${'{},'.repeat(length / 3)}{}]}`,
      `{"operations":[{"table":"svc_notes","operation":"INSERT","data":{${'"a":0,'.repeat(length / 6)}"b":0}}]}`,
    ]
    await repeat({ atOnce: 6, most: size(200, 12) }, (number) =>
      ask({ path: '/api/sync/data.php?action=push', body: bodies[number % bodies.length]! }),
    )
  },
  allowed: /^(400 bad_request|413 too_large|429 rate_limited)$/,
  reached: /^400 bad_request$/,
}
