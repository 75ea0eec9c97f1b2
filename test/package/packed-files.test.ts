import { spawnSync } from 'node:child_process'
import { cp, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { folderOfTest } from '../support/server.ts'
import { npm, root } from './npm.ts'

/** Parts of the bundle have names that follow from their content; that there are some is all that counts. */
const withoutHash = (path: string) =>
  path
    .replace(/^dist\/[^/]+-[A-Z0-9]{8}\.js$/, 'dist/(chunks)')
    .replace(/^dist\/desktop\/assets\/.+-[\w-]{8}\.(?:js|css)(?:\.br|\.gz)?$/, 'dist/desktop/assets/(parts)')

test('the package holds exactly the files of the list', async () => {
  const [packed] = JSON.parse(await npm(root, 'pack', '--dry-run', '--json')) as [{ files: { path: string }[] }]
  const paths = [...new Set(packed.files.map(({ path }) => withoutHash(path)))].sort()
  await expect(paths.join('\n') + '\n').toMatchFileSnapshot('packed-files.golden')
})

test('an installation that could not get SQLite fails and says why', async () => {
  const folder = await folderOfTest()
  await writeFile(join(folder, 'package.json'), '{ "type": "module" }')
  await cp(join(root, 'bin/sqlite.js'), join(folder, 'bin/sqlite.js'))
  const { status, stderr } = spawnSync(process.execPath, ['bin/sqlite.js'], { cwd: folder, env: {}, encoding: 'utf8' })
  expect(status).toBe(1)
  expect(stderr).toMatch(
    /^SQLite could not be installed for Node [\d.]+: Cannot find module .*\n.*"npm install" again\./,
  )
  // Where it is there, nothing is said or done.
  expect(spawnSync(process.execPath, ['bin/sqlite.js'], { cwd: root, env: {}, encoding: 'utf8' })).toMatchObject({
    status: 0,
    stderr: '',
  })
})
