import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { contents, useSyncCommand, write } from '../support/sync-command.ts'

// Synchronised folders when their account is rewound on the server.

const command = useSyncCommand()
const { svc, ok, folders } = command

test('folders follow a rewind and its undo, and keep what they had not sent', async () => {
  const { profile, roots } = await folders(2)
  const [one, other] = roots as [string, string]
  const both = async () => {
    const codes = []
    for (const root of [one, other, one]) codes.push((await svc(['sync', root, '--profile', profile])).code)
    return codes
  }
  for (let number = 1; number <= 30; number += 1) write(one, `photos/${number}.jpg`, `picture ${number}`)
  write(one, 'letter.txt', 'Dear Charles')
  expect(await both()).toEqual([0, 0, 0])
  const sound = contents(one)
  const backups = join(command.place, 'backups')
  await ok(['backup', 'create', '--to', backups])

  for (let number = 1; number <= 30; number += 1) {
    rmSync(join(one, `photos/${number}.jpg`))
    write(one, `photos/${number}.jpg.locked`, `encrypted ${number}`)
  }
  write(one, 'letter.txt', 'encrypted')
  await ok(['sync', one, '--profile', profile, '--force-delete'])
  await ok(['sync', other, '--profile', profile, '--force-delete'])
  const ruined = contents(other)

  // Not sent yet when the account is rewound.
  write(other, 'letter.txt', 'edited meanwhile')
  write(other, 'new.txt', 'new meanwhile')
  const words = ['rewind', '--user', profile, '--from', backups, '--apply', '--json']
  const { stdout } = await ok([...words, '--to', 'latest'])
  const { saved } = JSON.parse(stdout) as { saved: { id: string } }
  await ok(['sync', one, '--profile', profile, '--force-delete'])
  expect(contents(one)).toEqual(sound)
  const { code } = await svc(['sync', other, '--profile', profile, '--force-delete'])
  expect(code).toBe(3)
  const { 'letter.txt': letter, 'new.txt': fresh, ...rest } = contents(other)
  expect([letter, fresh]).toEqual(['Dear Charles', 'new meanwhile'])
  const copy = Object.keys(rest).find((name) => name.startsWith('letter') && !(name in sound))!
  expect(readFileSync(join(other, copy), 'utf8')).toBe('edited meanwhile')
  expect((await both()).slice(1)).toEqual([0, 0])

  await ok([...words, '--to', saved.id])
  await ok(['sync', one, '--profile', profile, '--force-delete'])
  expect(contents(one)).toEqual(ruined)
})
