import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, writeFileSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { folderOfTest } from '../support/server.ts'

const program = fileURLToPath(new URL('../../bin/svc.js', import.meta.url))

test.each([{ more: [] }, { more: ['--ready-file', 'ready.json'] }])(
  'svc serve --seed $more prints generated passwords although the server cannot start',
  async ({ more }) => {
    const cwd = await folderOfTest()
    writeFileSync(join(cwd, 'team.json'), '{"users":[{"username":"ada","generate":true,"token":true}]}')
    const other = createServer().listen(0, '127.0.0.1')
    await once(other, 'listening')
    onTestFinished(() => void other.close())
    const { port } = other.address() as AddressInfo
    const args = ['serve', '--seed', 'team.json', '--port', String(port), '--data-dir', 'data', ...more]
    const { stdout, stderr, status } = spawnSync(process.execPath, [program, ...args], { cwd, encoding: 'utf8' })
    expect(stdout).toMatch(/^Password of ada, not shown again: \S+\n$/)
    expect(stderr).toContain('is taken by another program')
    expect([status, existsSync(join(cwd, 'ready.json'))]).toEqual([1, false])
  },
)
