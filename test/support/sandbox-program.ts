import { readdir } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { makeSandbox } from '../../src/outside/sandbox.ts'

// Runs a command in the sandbox as the current user, and prints the result as JSON.

const files = (async function* () {
  yield await Promise.resolve({ path: 'deep/a.txt', content: Buffer.from('kept') })
})()
const sandbox = makeSandbox()
const reason = await sandbox.probe()
const ran =
  reason === undefined && (await sandbox.run({ command: process.argv[2]!, files, signal: AbortSignal.timeout(60_000) }))
const left = await readdir(tmpdir())
process.stdout.write(JSON.stringify({ user: process.getuid?.(), reason, ran, left }))
