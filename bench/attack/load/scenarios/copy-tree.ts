import { filesOf, seedFiles } from '../../../seeds.ts'
import type { Scenario } from '../scenario.ts'

/** Concurrent copies of a large tree, and their deletion. */
export const copyTree: Scenario = {
  name: 'copy-tree',
  seed(database, user, size) {
    const files = filesOf(size(30_000, 1_000)).map((file) => ({ ...file, folder: `tree/${file.folder}`, size: 1 }))
    seedFiles(database, user, files)
  },
  async run({ ask, repeat, size }) {
    const post = (action: string, fields: object) =>
      ask({ path: `/api/filesystem.php?action=${action}`, body: JSON.stringify(fields) })
    await repeat({ atOnce: 10, most: size(20, 10) }, async (number) => {
      await post('copy', { from: '/tree', to: `/copy-${number}` })
      await post(number % 2 === 0 ? 'trash' : 'delete', { path: `/copy-${number}` })
    })
  },
  // Each account copies one tree at a time; waiting requests may outlast the attack.
  allowed: /^(200|404 not_found|409|413|429|503 busy|no answer)/,
  reached: /^200$/,
}
