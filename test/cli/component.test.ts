import { expect, test } from 'vitest'
import { desktopComponents } from '../../src/contract/desktop-components.ts'
import { runCommand } from '../support/command.ts'
import { serverOfTest } from '../support/server.ts'
import { commitsSeenBy } from '../support/state.ts'

const { save, list, activate, save_profile, profiles } = desktopComponents.actions

test('components are listed by user, and turned off for a safe start', async () => {
  const server = await serverOfTest()
  const [ada, bob] = [await server.account({ username: 'ada' }), await server.account({ username: 'bob' })]
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
