import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { runCommand } from '../support/command.ts'
import { folderOfTest } from '../support/server.ts'

const program = fileURLToPath(new URL('../../bin/svc.js', import.meta.url))
const MESSAGE = 'Too many files are open. Raise the limit (ulimit -n 1024), and run this again.'

/** Runs the built command under a limit of `ulimit`. */
const runLimited = (limit: string, dataDir: string, ...words: string[]) =>
  new Promise<{ code: unknown; stderr: string }>((resolve) => {
    const script = [
      '-c',
      `ulimit ${limit} && exec "$0" "$@"`,
      process.execPath,
      program,
      ...words,
      '--data-dir',
      dataDir,
    ]
    execFile('sh', script, { env: { PATH: process.env['PATH'], HOME: dataDir } }, (error, _, stderr) =>
      resolve({ code: error?.code ?? 0, stderr }),
    )
  })

const REPORTS = [
  { code: 1, stderr: `svc: ${MESSAGE}\n` },
  { code: 1, stderr: `${JSON.stringify({ error: MESSAGE, code: 'EMFILE', exit_code: 1 })}\n` },
]

// How many descriptors the code takes depends on the version of Node: a command may also get as far as its own error.
test.skipIf(process.platform === 'win32').each([26, 34, 48])(
  'with %i file descriptors a command ends with a sentence, not with a stack trace',
  async (limit) => {
    const dataDir = await folderOfTest()
    const ended = await runLimited(`-n ${limit}`, dataDir, 'user', 'list', '--json')
    const isRefused = ended.stderr.includes('svc init')
    if (!isRefused) expect(REPORTS).toContainEqual(ended)
  },
)

test.skipIf(process.platform === 'win32')('a limit on the size of files is named with the file it stops', async () => {
  const dataDir = await folderOfTest()
  await runCommand(dataDir, 'user', 'add', 'ada', '--role', 'admin', '--generate')
  const { code, stderr } = await runLimited('-f 100', dataDir, 'backup', 'create', '--to', join(dataDir, 'backups'))
  expect(code).toBe(1)
  expect(stderr).toMatch(
    /^svc: \S+\/tmp\/backup-\w+\.db cannot be written: .*limit on the size of files \(ulimit -f\)/m,
  )
})
