import { seedNotes } from '../../../seeds.ts'
import type { Scenario } from '../scenario.ts'

/** All rows of an account, and its feed in the largest pages, by all devices at once. */
export const initialSync: Scenario = {
  name: 'initial-sync',
  seed: (database, user, size) => seedNotes(database, user, size(100_000, 10_000)),
  run: ({ ask, repeat, size }) =>
    repeat({ atOnce: 8, most: size(100, 40) }, (number) =>
      ask({
        path: `/api/sync/data.php?action=${number % 2 === 0 ? 'initial_sync' : 'delta&cursor=0&limit=5000'}`,
      }),
    ),
  allowed: /^(200|429 rate_limited|503 busy)$/,
  reached: /^200$/,
}
