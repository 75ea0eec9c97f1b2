// Checks the history of several servers for longer than the test suite does: `npm run check:history -- --rounds 200`.
// A round that fails is named by its seed; servers and network decide the rest, so it may pass when it is played again.
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'

const root = fileURLToPath(new URL('../../..', import.meta.url))
const { values } = parseArgs({
  options: { rounds: { type: 'string', default: '200' }, from: { type: 'string', default: '1' } },
})
const { status } = spawnSync(
  process.execPath,
  ['node_modules/vitest/vitest.mjs', 'run', '--config', 'test/vitest.config.ts', 'test/wiring/history'],
  { cwd: root, stdio: 'inherit', env: { ...process.env, HISTORY_ROUNDS: values.rounds, HISTORY_FROM: values.from } },
)
process.exit(status ?? 1)
