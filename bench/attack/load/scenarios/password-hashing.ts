import type { Scenario } from '../scenario.ts'

const ADDRESSES = 40

/** Wrong passwords from many addresses: each costs a hash, whether the name exists or not. */
export const passwordHashing: Scenario = {
  name: 'password-hashing',
  run: ({ ask, repeat, size }) =>
    repeat({ atOnce: 64, most: size(4_000, 200) }, (number) =>
      ask({
        isAnonymous: true,
        path: '/api/sync/auth.php?action=login',
        address: `127.0.1.${1 + (number % ADDRESSES)}`,
        body: JSON.stringify({
          username: `nobody-${number}`,
          password: 'x'.repeat(1_024),
          device_id: 'attack-0001',
          device_name: 'Attack',
        }),
      }),
    ),
  allowed: /^(401|429|503)/,
  reached: /^401/,
}
