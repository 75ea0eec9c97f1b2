// Checks the history of several servers for longer than the test suite does: `npm run check:history -- --rounds 200`.
// With `--failovers 10`, Patroni fails the database over so many times in each way instead, and the times are printed.
// A round that fails is named by its seed; servers and network decide the rest, so it may pass when it is played again.
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'

const root = fileURLToPath(new URL('../../..', import.meta.url))
const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '200' },
    from: { type: 'string', default: '1' },
    failovers: { type: 'string' },
  },
})
const { rounds, from, failovers } = values
const what = failovers === undefined ? 'test/wiring/history' : 'test/wiring/patroni.test.ts'
const counts = failovers === undefined ? { HISTORY_ROUNDS: rounds, HISTORY_FROM: from } : { FAILOVERS: failovers }
const { status } = spawnSync(
  process.execPath,
  ['node_modules/vitest/vitest.mjs', 'run', '--config', 'test/vitest.config.ts', '--project', 'sqlite', what],
  { cwd: root, stdio: 'inherit', env: { ...process.env, ...counts } },
)
process.exit(status ?? 1)
