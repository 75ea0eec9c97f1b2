import { filesOf, seedFiles } from '../../../seeds.ts'
import { sha256Of } from '../../../samples.ts'
import type { Scenario } from '../scenario.ts'

const CONTENT = Buffer.from('x')

/** Archives of a large tree, and of a tree beyond the limit. */
export const archive: Scenario = {
  name: 'archive',
  seed(database, user, size) {
    const half = size(60_000, 3_000)
    const files = filesOf(2 * half).map((file, number) => ({
      ...file,
      folder: `tree/${number < half ? 'a' : 'b'}/${file.folder}`,
      data: CONTENT,
      sha256: sha256Of(CONTENT),
      size: 1,
    }))
    seedFiles(database, user, files)
  },
  async run({ ask, repeat, size }) {
    const paths = ['/tree', '/tree/a']
    await repeat({ atOnce: 8, most: size(60, 16) }, (number) =>
      ask({
        method: number % 4 < 2 ? 'GET' : 'HEAD',
        path: `/api/filesystem.php?action=archive&path=${paths[number % 2]!}`,
      }),
    )
  },
  // Responses to HEAD contain no code.
  allowed: /^(200|400|400 too_many_operations|429 rate_limited|503 busy)$/,
  reached: /^200$/,
}
