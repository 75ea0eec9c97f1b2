import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { desktopComponents } from '../../src/contract/desktop-components.ts'
import { startAs } from '../support/chat-command.ts'
import { runCommand } from '../support/command.ts'
import { folderOfTest, serverOfTest } from '../support/server.ts'
import { commitsSeenBy } from '../support/state.ts'

const { save, list, activate, save_profile, profiles } = desktopComponents.actions

test('components are listed by user, and turned off for a safe start', async () => {
  const server = await serverOfTest()
  const [ada, bob] = [
    await server.account({ username: 'ada', plantsCode: true }),
    await server.account({ username: 'bob' }),
  ]
  const made = (component_id: string, component_type: 'css' | 'js') => ({ component_id, component_type, code: 'a{}' })
  await ada.ask(save, made('theme', 'css'))
  await ada.ask(save, made('theme', 'css'))
  await ada.ask(activate, { component_id: 'theme', version: 1 })
  await ada.ask(save, made('clock', 'js'))
  await ada.ask(save_profile, { name: 'Evening' })
  await bob.ask(save, made('theme', 'css'))
  const svc = (...args: string[]) => runCommand(server.dataDir, ...args)

  expect((await svc('component', 'list')).stdout).toBe(
    [
      'USER  COMPONENT  TYPE  ACTIVE     NEWEST  VERSIONS  CHANGED',
      'ada   clock      js    version 1       1         1  2026-11-21 12:00',
      'ada   theme      css   version 1       2         2  2026-11-21 12:00',
      'bob   theme      css   version 1       1         1  2026-11-21 12:00',
      '',
    ].join('\n'),
  )
  expect(JSON.parse((await svc('components', 'list', '--user', 'BOB', '--json')).stdout)).toEqual([
    {
      username: 'bob',
      component_id: 'theme',
      component_type: 'css',
      newest: 1,
      active: 1,
      versions: 1,
      updated_at: '2026-11-21T12:00:00.000Z',
    },
  ])

  const before = await commitsSeenBy(server.database)
  expect((await svc('component', 'reset', 'ada')).code).toBe(2)
  expect((await svc('component', 'reset', 'ada', '--dry-run')).stdout).toBe('Would turn off 2 components of ada.\n')
  expect((await svc('component', 'reset', 'nobody', '--yes')).code).toBe(5)
  expect(await commitsSeenBy(server.database)).toBe(before)

  expect((await svc('component', 'reset', 'ada', '--yes')).stdout).toBe('Turned off 2 components of ada.\n')
  expect((await ada.ask(list, {})).components).toEqual([])
  expect((await bob.ask(list, {})).components).toHaveLength(1)
  expect((await ada.ask(profiles, {})).profiles).toHaveLength(1)
  const entries = await server.local.domain.instance.audit.list({ kinds: ['components.reset'], limit: 5 })
  expect(entries).toMatchObject([{ target: 'ada', detail: '{"deactivated":2}' }])
  // Nothing is asked where nothing is to be done.
  expect((await svc('component', 'reset', 'ada')).stdout).toBe('ada has no active components.\n')
  await ada.ask(activate, { component_id: 'theme', version: 2 })
  expect((await ada.ask(list, {})).components).toMatchObject([{ component_id: 'theme', version: 2 }])
})

describe('one who is signed in', () => {
  async function signedIn() {
    const server = await serverOfTest()
    const [ada, bob] = [await server.account({ username: 'ada' }), await server.account({ username: 'bob' })]
    await ada.ask(save, { component_id: 'bob', component_type: 'css', code: 'a{}' })
    await bob.ask(save, { component_id: 'theme', component_type: 'css', code: 'a{}' })
    const svc = async (...args: string[]) => {
      const { ended, printed } = await startAs({ url: server.url, token: ada.token }, ...args)
      return { code: await ended, ...printed }
    }
    return { server, ada, bob, svc }
  }

  test('means their own components, unless a data directory or a user is named', async () => {
    const { server, ada, bob, svc } = await signedIn()
    const names = async (...args: string[]) =>
      (JSON.parse((await svc('component', 'list', '--json', ...args)).stdout) as { component_id: string }[]).map(
        ({ component_id }) => component_id,
      )
    expect(await names()).toEqual(['bob'])
    expect(await names('--data-dir', server.dataDir)).toEqual(['bob', 'theme'])
    expect(await names('--data-dir', server.dataDir, '--user', 'bob')).toEqual(['theme'])
    // A component that is called like a user.
    expect((await svc('component', 'reset', 'bob', '--yes')).stdout).toBe('Turned off bob.\n')
    expect((await ada.ask(list, {})).components).toEqual([])
    expect((await bob.ask(list, {})).components).toHaveLength(1)
    const others = await svc('component', 'reset', 'bob', '--yes', '--data-dir', server.dataDir)
    expect(others.stdout).toBe('Turned off 1 component of bob.\n')
    expect((await bob.ask(list, {})).components).toEqual([])
  })

  test('saves nothing that is too large or no text', async () => {
    const { ada, svc } = await signedIn()
    const folder = await folderOfTest()
    for (const [name, content, message] of [
      ['large.css', 'x'.repeat(102_401), 'large.css is larger than 100 KB, the limit for a component.'],
      ['latin.css', Buffer.from([0x61, 0xe9]), 'latin.css is not UTF-8 text.'],
    ] as const) {
      await writeFile(join(folder, name), content)
      const { code, stderr } = await svc('component', 'save', 'x', join(folder, name))
      expect({ code, stderr }).toEqual({ code: 2, stderr: `svc: ${join(folder, message)}\n` })
    }
    await writeFile(join(folder, 'fits.css'), 'ü'.repeat(51_200))
    expect((await svc('component', 'save', 'x', join(folder, 'fits.css'))).code).toBe(0)
    expect((await ada.ask(list, {})).components).toHaveLength(2)
  })
})
