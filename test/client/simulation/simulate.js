// Simulates the sync client for longer than the test suite does: `npm run simulate -- --seeds 10000 --from 1`.
// The story of a seed that fails is left in node_modules/.cache/simulation, shortened; put among the regressions of the
// simulation it is played with the tests from then on.
import { spawnSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'

const root = fileURLToPath(new URL('../../..', import.meta.url))
const failed = join(root, 'node_modules/.cache/simulation')
const { values } = parseArgs({
  options: { seeds: { type: 'string', default: '3000' }, from: { type: 'string', default: '1' } },
})
mkdirSync(failed, { recursive: true })
const { status } = spawnSync(
  process.execPath,
  ['node_modules/vitest/vitest.mjs', 'run', '--config', 'test/vitest.config.ts', 'test/client/simulation'],
  {
    cwd: root,
    stdio: 'inherit',
    env: { ...process.env, SIMULATE_SEEDS: values.seeds, SIMULATE_FROM: values.from, SIMULATE_FAILED: failed },
  },
)
process.exit(status ?? 1)
