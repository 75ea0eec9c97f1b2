import { readFile, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { unfinishedName } from '../../src/host/unfinished-files.ts'
import { runCommandWith } from '../support/command.ts'
import { folderOfTest, serverOfTest } from '../support/server.ts'

test('the next download into a folder removes what killed ones left, and nothing else', async () => {
  const { url, account } = await serverOfTest()
  const ada = await account()
  await ada.put('/letters/one.txt', 'Dear Charles')
  const folder = await folderOfTest()
  const running = unfinishedName('download')
  // No system numbers its processes so high.
  const left = running.replace(`-${process.pid}-`, '-2147483647-')
  const env = { HOME: folder, SVC_URL: url, SVC_TOKEN: ada.token }
  for (const args of [[], ['-r']]) {
    for (const name of [running, left, '.one.txt.0123456789ab.tmp']) await writeFile(join(folder, name), 'Dear')
    const remote = args.length > 0 ? '/letters' : '/letters/one.txt'
    const { code } = await runCommandWith(
      env,
      'files',
      'get',
      '--force',
      ...args,
      remote,
      join(folder, 'one.txt', '..'),
    )
    const names = await readdir(folder)
    expect([code, names.includes(running), names.includes(left), names.includes('.one.txt.0123456789ab.tmp')]).toEqual([
      0,
      true,
      args.length > 0,
      true,
    ])
    expect(await readFile(join(folder, 'one.txt'), 'utf8')).toBe('Dear Charles')
  }
})
