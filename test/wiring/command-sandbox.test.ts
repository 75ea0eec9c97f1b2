import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { openSandbox } from '../../src/wiring/command-sandbox.ts'
import { folderOfTest } from '../support/server.ts'

test.runIf(process.platform === 'linux')(
  'commands that could not be tried without a temporary folder are tried again once it is there',
  async () => {
    const settings = { values: () => Promise.resolve({ 'assistant.run_command': 'on' } as never) }
    const { obstacle, sandbox } = openSandbox(settings, {})
    vi.stubEnv('TMPDIR', join(await folderOfTest(), 'gone'))
    expect(await obstacle()).toMatch(/^Commands cannot be tried: ENOENT.*gone/)
    expect(await sandbox()).toBe(undefined)
    vi.unstubAllEnvs()
    expect((await obstacle()) ?? '').not.toMatch(/^Commands cannot be tried/)
  },
)
