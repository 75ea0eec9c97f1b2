import { filesOf, seedFiles } from '../../../seeds.ts'
import type { Scenario } from '../scenario.ts'

/** Lists a folder with many files. */
export const hugeFolder: Scenario = {
  name: 'huge-folder',
  seed: (database, user, size) =>
    seedFiles(
      database,
      user,
      filesOf(size(100_000, 5_000)).map((file) => ({ ...file, folder: 'huge' })),
    ),
  run: ({ ask, repeat, size }) =>
    repeat({ atOnce: 8, most: size(200, 40) }, () => ask({ path: '/api/filesystem.php?action=list&path=/huge' })),
  allowed: /^(200|429 rate_limited|503 busy)$/,
  reached: /^200$/,
}
