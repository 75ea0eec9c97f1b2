import { openLocal } from '../../src/wiring/local.ts'
import { serve } from '../../src/wiring/serve.ts'

// A program of its own, for tests that need another process: `serve FOLDER` or `open FOLDER`. It says `ready …` and ends with its input.

const [what, dataDir] = process.argv.slice(2)
const env = { SVC_LIMITS: 'off', SVC_PORT: '0' }
const running =
  what === 'serve' ? await serve({ dataDir, env, log: false }) : { url: '', ...(await openLocal({ dataDir, env })) }
process.stdout.write(`ready ${running.url}\n`)
process.stdin.resume().once('end', () => void running.close())
