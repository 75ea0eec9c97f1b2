import { expect, test } from 'vitest'
import { roomFolders } from '../../../src/domain/files/room-folders.ts'

const namesOf = (rooms: Record<number, string>) =>
  roomFolders(Object.entries(rooms).map(([id, name]) => ({ id: Number(id), name, created_at: 0 }))).map(
    ({ name }) => name,
  )

test.each([
  [{ 1: 'General', 2: 'Tea' }, ['General', 'Tea']],
  [{ 1: 'Tea', 2: 'Tea' }, ['Tea', 'Tea (#2)']],
  [{ 1: 'Tea', 2: 'tea' }, ['Tea', 'tea']],
  [{ 1: 'é', 2: 'e\u0301' }, ['é', 'e\u0301 (#2)']],
  [{ 1: 'a/b', 2: 'a\\b', 3: 'a\u0000b' }, ['a_b', 'a_b (#2)', 'a_b (#3)']],
  [{ 1: '.', 2: '..', 3: '' }, ['_', '_ (#2)', '_ (#3)']],
  [{ 1: 'x', 2: 'x', 3: 'x (#2)' }, ['x', 'x (#2) (#2)', 'x (#2)']],
  [{ 1: 'x', 2: 'x', 3: 'x (#2)', 4: 'x (#2)' }, ['x', 'x (#2) (#2)', 'x (#2)', 'x (#2) (#4)']],
])('%j become folders of different names', (rooms, names) => {
  expect(namesOf(rooms)).toEqual(names)
})

test('a long name keeps whole characters and fits', () => {
  const [name, twin] = namesOf({ 1: '🌳'.repeat(100), 2: '🌳'.repeat(101) })
  expect(name).toBe('🌳'.repeat(50))
  expect(twin).toBe(`${'🌳'.repeat(50)} (#2)`)
})
