import { chmod, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { until } from '../support/chat-command.ts'
import { folderOfTest, serverOfTest } from '../support/server.ts'
import { hasTmux, openTmux } from '../support/tmux.ts'

const program = fileURLToPath(new URL('../../bin/svc.js', import.meta.url))

describe.skipIf(!hasTmux || process.platform === 'win32')('svc app open on a terminal', () => {
  test('starts the browser with the address, and says so where there is none', async () => {
    const server = await serverOfTest()
    const { token } = await server.account()
    const folder = await folderOfTest()
    const [browser, started] = [join(folder, 'browser'), join(folder, 'started')]
    await writeFile(browser, `#!/bin/sh\nprintf '%s\\n' "$@" > ${started}.new && mv ${started}.new ${started}\n`)
    await chmod(browser, 0o755)
    const open = openTmux(folder)
    const env = { HOME: folder, SVC_URL: server.url, SVC_TOKEN: token }
    const command = [process.execPath, program, 'app', 'open', 'files', '/a b']

    const pane = await open('one', { ...env, BROWSER: browser }, command)
    await pane.shows(/ended with 0/)
    expect(await pane.screen()).toContain(`${server.url}/#open=files&path=%2Fa+b`)
    const read = () => readFile(started, 'utf8').catch(() => '')
    await until(
      'the browser is started',
      async () => (await read()) !== '',
      () => '',
    )
    expect(await read()).toBe(`${server.url}/#open=files&path=%2Fa+b\n`)

    const none = await open('two', { ...env, BROWSER: join(folder, 'none') }, command)
    await none.shows(/No browser could be started: open the address yourself[^]*ended with 0/)
  })
})
