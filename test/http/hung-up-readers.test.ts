import { readdir, readlink } from 'node:fs/promises'
import { expect, onTestFinished, test } from 'vitest'
import { syncFiles } from '../../src/contract/sync-files.ts'
import { INLINE_MAX } from '../../src/storage/contents/contents.ts'
import { openLocal } from '../../src/wiring/local-domain.ts'
import { accountInFolder } from '../support/account-in-folder.ts'
import { appPackage } from '../support/app-package.ts'
import { bytesOf, sha256Of } from '../support/contents.ts'
import { openRaw, rawHead } from '../support/raw.ts'
import { folderOfTest } from '../support/server.ts'
import { startServerProcess } from '../support/server-process.ts'

/** How often a process has a content open. */
async function descriptorsOf(pid: number, content: Uint8Array): Promise<number> {
  const sha256 = sha256Of(content)
  const folder = `/proc/${pid}/fd`
  const links = await Promise.all((await readdir(folder)).map((fd) => readlink(`${folder}/${fd}`).catch(() => '')))
  return links.filter((path) => path.includes(sha256)).length
}

/** A server of the built command with an app of one large script. */
async function serverWith(script: string) {
  const dataDir = await folderOfTest()
  const local = await openLocal({ dataDir, env: {} })
  await local.domain.desktop.releases.install(appPackage({ 'large.js': script }))
  await local.close()
  const server = await startServerProcess({ HOME: dataDir, SVC_DATA_DIR: dataDir })
  onTestFinished(() => server.kill())
  return { server, dataDir, pid: server.process.pid! }
}

test.runIf(process.platform === 'linux')(
  'who asks for the script of an app and hangs up leaves no open file behind, without an account',
  async () => {
    const script = `let engine = 1\n${'/'.repeat(INLINE_MAX)}`
    const { server, pid } = await serverWith(script)
    const head = rawHead('GET', '/apps/clock/large.js', {})
    const visit = async () => {
      const raw = await openRaw(server.url)
      raw.write(head)
      raw.socket.resetAndDestroy()
    }
    for (let round = 0; round < 10; round += 1) await Promise.all(Array.from({ length: 40 }, visit))
    // Whatever came before has been answered now.
    const response = await fetch(`${server.url}/apps/clock/large.js`)
    expect((await response.text()).endsWith(script)).toBe(true)
    await expect.poll(() => descriptorsOf(pid, Buffer.from(script)), { timeout: 5_000 }).toBe(0)
  },
)

test.runIf(process.platform === 'linux')(
  'who hangs up in the middle of an archive leaves no open file behind, wherever it stood',
  async () => {
    const { server, dataDir, pid } = await serverWith('1')
    const ada = await accountInFolder(dataDir, server.url)
    const content = bytesOf(INLINE_MAX + 1)
    await ada.put('/small.bin', bytesOf(INLINE_MAX - 2_048))
    await ada.put('/large.bin', content)
    const body = JSON.stringify({ paths: Array.from({ length: 500 }, () => ['/small.bin', '/large.bin']).flat() })
    const headers = {
      authorization: `Bearer ${ada.token}`,
      'content-type': 'application/json',
      'content-length': body.length,
    }
    const visit = async () => {
      const raw = await openRaw(server.url)
      raw.write(rawHead('POST', `${syncFiles.path}?action=download_batch`, headers) + body)
      await raw.until('SVC.sha256')
      // Nobody reads on: the server waits in the middle of the archive.
      raw.socket.pause()
      return raw
    }
    for (let round = 0; round < 3; round += 1) {
      const raws = await Promise.all(Array.from({ length: 10 }, visit))
      await ada.manifest()
      for (const raw of raws) raw.hangUp()
    }
    await expect.poll(() => descriptorsOf(pid, content), { timeout: 5_000 }).toBe(0)
  },
)
