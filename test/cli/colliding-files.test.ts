import { link, mkdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { runCommandWith } from '../support/command.ts'
import { folderOfTest, serverOfTest } from '../support/server.ts'

// Files of one command that have the same name on the other side, although not on this one.

async function world() {
  const { url, account } = await serverOfTest()
  const ada = await account()
  const folder = await folderOfTest()
  const env = { HOME: folder, SVC_URL: url, SVC_TOKEN: ada.token }
  return { ada, folder, files: (...args: string[]) => runCommandWith(env, 'files', ...args) }
}

test('a download of a folder does not replace a file that it is done with', async () => {
  const { ada, folder, files } = await world()
  await ada.put('/letters/A/one.txt', 'first')
  await ada.put('/letters/B/one.txt', 'second')
  await mkdir(join(folder, 'A'))
  // As `A.txt` and `a.txt` are one file where case is ignored.
  await symlink('A', join(folder, 'B'))
  for (const done of ['Downloaded 1 file (5 B)', 'Downloaded 0 files (0 B)']) {
    const { code, stdout, stderr } = await files('get', '-r', '--force', '/letters', folder)
    expect(code).toBe(3)
    expect(stdout).toContain(done)
    expect(stderr).toContain(
      `skipped /letters/B/one.txt: ${join(folder, 'B', 'one.txt')} already holds /letters/A/one.txt`,
    )
    expect(await readFile(join(folder, 'A', 'one.txt'), 'utf8')).toBe('first')
  }
})

test('hard links on this machine are files of their own for a download', async () => {
  const { ada, folder, files } = await world()
  for (const name of ['one', 'two']) await ada.put(`/letters/${name}`, 'same')
  await writeFile(join(folder, 'one'), 'same')
  await link(join(folder, 'one'), join(folder, 'two'))
  expect(await files('get', '-r', '--force', '/letters', folder)).toMatchObject({ code: 0 })
  await ada.put('/letters/two', 'other')
  expect(await files('get', '-r', '--force', '/letters', folder)).toMatchObject({ code: 0 })
  expect(await readFile(join(folder, 'one'), 'utf8')).toBe('same')
  expect(await readFile(join(folder, 'two'), 'utf8')).toBe('other')
})

test('an upload of a folder sends one of two files whose names the account does not distinguish', async () => {
  const { folder, files } = await world()
  const mine = join(folder, 'mine')
  await mkdir(mine)
  for (const form of ['NFC', 'NFD']) await writeFile(join(mine, 'é.txt'.normalize(form)), form)
  for (const done of ['Uploaded 1 file', 'Uploaded 0 files']) {
    const { code, stdout, stderr } = await files('put', '-r', mine, '/letters/')
    const sent = stderr.includes(`skipped ${join(mine, 'é.txt'.normalize('NFC'))}: `) ? 'NFD' : 'NFC'
    expect(code).toBe(3)
    expect(stdout).toContain(done)
    expect(stderr).toContain(`already holds ${join(mine, 'é.txt'.normalize(sent))}`)
    expect((await files('cat', '/letters/mine/é.txt')).stdout).toBe(sent)
  }
})
