import { homedir } from 'node:os'
import { expect, test } from 'vitest'
import { userFolder } from '../../src/host/user-folders.ts'

test.each([
  ['the variable decides', { XDG_CONFIG_HOME: '/conf', HOME: '/home/ada' }, '/conf'],
  ['without it the folder lies in the home', { HOME: '/home/ada' }, '/home/ada/.config'],
  ['an empty one counts as none', { XDG_CONFIG_HOME: '', HOME: '/home/ada' }, '/home/ada/.config'],
  ['a relative one is ignored', { XDG_CONFIG_HOME: 'conf', HOME: '/home/ada' }, '/home/ada/.config'],
  ['without a home in the environment the system is asked', {}, `${homedir()}/.config`],
])('%s', (_, env, folder) => {
  expect(userFolder('config', env)).toBe(folder)
})

test('data and state have folders of their own', () => {
  expect(userFolder('data', { HOME: '/h' })).toBe('/h/.local/share')
  expect(userFolder('state', { HOME: '/h', XDG_STATE_HOME: '/state' })).toBe('/state')
})
