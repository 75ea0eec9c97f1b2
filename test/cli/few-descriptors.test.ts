import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { folderOfTest } from '../support/server.ts'

const program = fileURLToPath(new URL('../../bin/svc.js', import.meta.url))
const MESSAGE = 'Too many files are open. Raise the limit (ulimit -n 1024), and run this again.'

const REPORTS = [
  { code: 1, stderr: `svc: ${MESSAGE}\n` },
  { code: 1, stderr: `${JSON.stringify({ error: MESSAGE, code: 'EMFILE', exit_code: 1 })}\n` },
]

// How many descriptors the code takes depends on the version of Node: a command may also get as far as its own error.
test.skipIf(process.platform === 'win32').each([26, 34, 48])(
  'with %i file descriptors a command ends with a sentence, not with a stack trace',
  async (limit) => {
    const dataDir = await folderOfTest()
    const script = `ulimit -n ${limit} && exec "$0" "$@"`
    const words = [process.execPath, program, 'user', 'list', '--json', '--data-dir', dataDir]
    const ended = await new Promise<{ code: unknown; stderr: string }>((resolve) => {
      execFile(
        'sh',
        ['-c', script, ...words],
        { env: { PATH: process.env['PATH'], HOME: dataDir } },
        (error, _, stderr) => resolve({ code: error?.code ?? 0, stderr }),
      )
    })
    const isRefused = ended.stderr.includes('svc init')
    if (!isRefused) expect(REPORTS).toContainEqual(ended)
  },
)
