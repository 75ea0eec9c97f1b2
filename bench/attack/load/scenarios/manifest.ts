import { filesOf, seedFiles } from '../../../seeds.ts'
import type { Scenario } from '../scenario.ts'

/** Manifests by all devices at once. */
export const manifest: Scenario = {
  name: 'manifest',
  seed: (database, user, size) => seedFiles(database, user, filesOf(size(100_000, 5_000))),
  run: ({ ask, repeat, size }) =>
    repeat({ atOnce: 8, most: size(60, 24) }, () => ask({ path: '/api/sync/files.php?action=manifest' })),
  allowed: /^(200|429 rate_limited|503 busy)$/,
  reached: /^200$/,
}
