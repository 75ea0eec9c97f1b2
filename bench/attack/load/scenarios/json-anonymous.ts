import type { Scenario } from '../scenario.ts'

const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth)

/** Deeply nested and wide JSON by anonymous clients: of a megabyte, and of the largest accepted size. */
export const jsonAnonymous: Scenario = {
  name: 'json-anonymous',
  async run({ ask, repeat, size }) {
    const bodies = [
      nested(500_000),
      `[${'[],'.repeat(330_000)}[]]`,
      `{"username":"x","password":${nested(8_000)}}`,
      `{"username":"x","password":[${'0,'.repeat(7_900)}0]}`,
    ]
    const paths = ['/api/login.php', '/api/sync/auth.php?action=login', '/api/sync/auth.php']
    await repeat({ atOnce: 8, most: size(2_000, 120) }, (number) =>
      ask({
        isAnonymous: true,
        path: paths[number % paths.length]!,
        body: bodies[number % bodies.length]!,
      }),
    )
  },
  allowed: /^(400 bad_request|413 too_large|429 rate_limited|401 unauthorized|connection ended)$/,
  reached: /^(400 bad_request|413 too_large)$/,
}
