import { expect, test } from 'vitest'
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
