import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { mkdir, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { install } from '../../src/cli/app/install.ts'
import { inspectPackage, remarkLine } from '../../src/cli/app/package.ts'
import { packageLimits } from '../../src/domain/desktop/desktop.ts'
import type { Io } from '../../src/cli/io.ts'
import { appPackage, filesOfApp } from '../support/app-package.ts'
import { folderOfTest, serverOfTest } from '../support/server.ts'
import { commitsSeenBy } from '../support/state.ts'
import { entryBytes, tarOf, type Packed } from '../support/tar.ts'

const sound: Packed[] = [...filesOfApp()].map(([name, content]) => ({ name, content }))
const MiB = 1024 ** 2

/** Writes an archive and looks at it. */
async function look(bytes: Uint8Array, name = 'app.tar') {
  const file = join(await folderOfTest(), name)
  await writeFile(file, bytes)
  const { app, problems, leftOut } = await inspectPackage(file)
  expect(app === undefined).toBe(problems.length > 0)
  return { app, problems: problems.map(remarkLine), leftOut }
}

const paths = (app: Awaited<ReturnType<typeof look>>['app']) => app?.files.map(({ path }) => path).sort()

describe('an archive', () => {
  test.each([
    ['as it is', (bytes: Uint8Array) => bytes, 'app.tar'],
    ['with gzip', gzipSync, 'app.tar.gz'],
    ['with gzip, whatever it is called', gzipSync, 'app.zip'],
  ])('is read %s, with the hash of the folder', async (_, pack, name) => {
    const { app } = await look(pack(tarOf(...sound)), name)
    expect(app?.sha256).toBe(appPackage().sha256)
  })

  test('may have everything in one folder, and folders of its own', async () => {
    const inside = sound.map((entry) => ({ ...entry, name: `clock/${entry.name}` }))
    const { app } = await look(tarOf({ name: 'clock/', type: '5' }, { name: 'clock/img/', type: '5' }, ...inside))
    expect(app?.sha256).toBe(appPackage().sha256)
    const beside = await look(tarOf(...inside, { name: 'other/x.txt', content: 'x' }))
    expect(beside.problems).toEqual(['app.json is missing.'])
  })

  test('leaves names with a dot at home', async () => {
    const { app, leftOut } = await look(tarOf(...sound, { name: '.git/config' }, { name: 'a/.DS_Store', type: '2' }))
    expect([paths(app), leftOut]).toEqual([
      ['app.json', 'index.html'],
      ['.git/config', 'a/.DS_Store'],
    ])
  })

  test('of the system’s tar is read like the folder it is of', async () => {
    const folder = await folderOfTest()
    const deep = join(folder, 'clock', 'd'.repeat(60), 'e'.repeat(60))
    mkdirSync(deep, { recursive: true })
    for (const [name, content] of filesOfApp()) writeFileSync(join(folder, 'clock', name), content)
    writeFileSync(join(deep, 'far.txt'), 'far')
    const ofFolder = await inspectPackage(join(folder, 'clock'))
    expect(ofFolder.app?.files).toHaveLength(3)
    for (const [name, ...what] of [
      ['a.tar', '-C', join(folder, 'clock'), '.'],
      ['b.tar', '-C', folder, 'clock'],
    ] as const) {
      execFileSync('tar', ['--format=pax', '-czf', join(folder, name), ...what])
      expect((await inspectPackage(join(folder, name))).app?.sha256).toBe(ofFolder.app!.sha256)
    }
  })

  const hostile: [string, Packed[], string[]][] = [
    ['a way out', [{ name: '../evil.sh', content: 'x' }], ['../evil.sh leads out of the package.']],
    ['a way out inside', [{ name: 'a/../../evil.sh' }], ['a/../../evil.sh leads out of the package.']],
    ['an absolute path', [{ name: '/etc/cron.d/evil' }], ['/etc/cron.d/evil leads out of the package.']],
    [
      'a backslash',
      [{ name: '..\\evil.sh' }],
      ['..\\evil.sh has a name with other signs than letters, digits and . _ - @ + ~ = ,.'],
    ],
    [
      'a symbolic link, and a file behind it',
      [
        { name: 'out', type: '2' },
        { name: 'out/evil.sh', content: 'x' },
      ],
      ['out is a symbolic link: a package has only files and folders.'],
    ],
    ['a hard link', [{ name: 'hard', type: '1' }], ['hard is a hard link: a package has only files and folders.']],
    ['a device', [{ name: 'null', type: '3' }], ['null is a device: a package has only files and folders.']],
    ['a disk', [{ name: 'disk', type: '4' }], ['disk is a device: a package has only files and folders.']],
    ['a pipe', [{ name: 'pipe', type: '6' }], ['pipe is a pipe: a package has only files and folders.']],
    [
      'something unheard of',
      [{ name: 'odd', type: 'Z' }],
      ['odd is neither a file nor a folder: a package has only files and folders.'],
    ],
    ['a file twice', [{ name: 'index.html', content: 'other' }], ['index.html is there twice.']],
    [
      'a file that is a folder too',
      [
        { name: 'a', content: '' },
        { name: 'a/b', content: '' },
      ],
      ['a/b cannot stand below a, which is a file.'],
    ],
    [
      'a name that moves the cursor',
      [{ name: '\u001b[2Jx' }],
      ['\ufffd[2Jx has a name with other signs than letters, digits and . _ - @ + ~ = ,.'],
    ],
    [
      'another name in its extended header',
      [{ name: 'harmless.txt', keys: { path: '../../evil.sh' } }],
      ['../../evil.sh leads out of the package.'],
    ],
    [
      'a file too large',
      [{ name: 'large', content: new Uint8Array(packageLimits.fileBytes + 1) }],
      ['large has more than 32 MiB.'],
    ],
    [
      'files too large together',
      [1, 2, 3].map((at) => ({ name: `f${at}`, content: new Uint8Array(30 * MiB) })),
      ['the package has more than 64 MiB.'],
    ],
    [
      'too many files',
      Array.from({ length: packageLimits.files + 5 }, (_, at) => ({ name: `f${at}` })),
      ['the package has more than 2000 files.'],
    ],
    [
      'more folders than anybody has',
      Array.from({ length: 20_001 }, (_, at) => ({ name: `d${at}/`, type: '5' })),
      ['the package has more than 20000 entries.'],
    ],
  ]
  test.each(hostile)('with %s is refused', async (_, entries, problems) => {
    expect((await look(tarOf(...sound, ...entries))).problems).toEqual(problems)
  })

  test('that unpacks to gigabytes is left at the limit', async () => {
    // Members of gzip one behind the other are one stream: 4 GiB of zeros.
    const bombPiece = gzipSync(Buffer.alloc(64 * MiB), { level: 1 })
    const bomb = Buffer.concat([
      gzipSync(Buffer.concat([...sound.map(entryBytes), entryBytes({ name: 'bomb', size: 8 ** 11 - 1 })])),
      ...Array.from({ length: 64 }, () => bombPiece),
    ])
    const { problems } = await look(bomb, 'bomb.tar.gz')
    expect(problems).toEqual(['bomb has more than 32 MiB.', 'the package has more than 64 MiB.'])
  })

  test.each<[string, (whole: Buffer) => Buffer, RegExp]>([
    ['cut off gzip', (whole) => gzipSync(whole).subarray(0, 100), /^the package is no sound gzip file: /],
    ['gzip of something else', () => gzipSync('hello'), /^the package is no sound tar archive: /],
    ['half a gzip header', () => Buffer.from([0x1f, 0x8b]), /^the package is no sound gzip file: /],
    ['noise behind a gzip header', () => Buffer.from('\u001f\u008bnoise', 'latin1'), /no sound gzip file/],
    [
      'an end that is missing',
      (whole) => whole.subarray(0, whole.length - 1_024),
      /no sound tar archive: .* ends too early/,
    ],
    ['nothing at all', () => Buffer.alloc(0), /no sound tar archive: .* ends too early/],
    ['a zip file', () => Buffer.from('PK\u0003\u0004'.padEnd(600)), /no sound tar archive: /],
    ['a flipped bit', (whole) => Buffer.from(whole).fill(0xff, 20, 21), /no sound tar archive: /],
  ])('that is %s is refused', async (_, harm, message) => {
    const { app, problems } = await look(harm(tarOf(...sound)))
    expect([app, problems[0]]).toEqual([undefined, expect.stringMatching(message)])
  })
})

describe('a folder', () => {
  test('has no links and pipes in it', async () => {
    const folder = await folderOfTest()
    for (const [name, content] of filesOfApp()) writeFileSync(join(folder, name), content)
    symlinkSync('/etc/passwd', join(folder, 'passwd'))
    symlinkSync('/', join(folder, 'root'))
    execFileSync('mkfifo', [join(folder, 'pipe')])
    const { app, problems } = await inspectPackage(folder)
    expect(app).toBeUndefined()
    expect(problems.map(remarkLine)).toEqual([
      'passwd is a symbolic link: a package has only files and folders.',
      'pipe is neither a file nor a folder: a package has only files and folders.',
      'root is a symbolic link: a package has only files and folders.',
    ])
  })

  test.skipIf(process.getuid?.() === 0)('has nothing that may not be read', async () => {
    const folder = await folderOfTest()
    for (const [name, content] of filesOfApp({ 'secret.txt': '' })) writeFileSync(join(folder, name), content)
    mkdirSync(join(folder, 'closed'), { mode: 0 })
    chmodSync(join(folder, 'secret.txt'), 0)
    const { problems } = await inspectPackage(folder)
    expect(problems.map(remarkLine)).toEqual([
      'closed may not be read by this user.',
      'secret.txt may not be read by this user.',
    ])
  })

  test('is read through a link to it, and is not read when it is something else', async () => {
    const folder = await folderOfTest()
    await mkdir(join(folder, 'clock'))
    for (const [name, content] of filesOfApp()) writeFileSync(join(folder, 'clock', name), content)
    symlinkSync('clock', join(folder, 'link'))
    expect((await inspectPackage(join(folder, 'link'))).app?.sha256).toBe(appPackage().sha256)
    execFileSync('mkfifo', [join(folder, 'pipe')])
    await expect(inspectPackage(join(folder, 'pipe'))).rejects.toMatchObject({ code: 2 })
    await expect(inspectPackage(join(folder, 'nothing'))).rejects.toMatchObject({ code: 5 })
    await expect(inspectPackage(join(folder, 'clock', 'app.json', 'x'))).rejects.toMatchObject({ code: 5 })
  })
})

test('a hostile archive leaves nothing behind, in the database, the blob store or beside it', async () => {
  const server = await serverOfTest()
  const { domain, config, directory } = server.local
  const folder = await folderOfTest()
  const file = join(folder, 'app.tar')
  const large = new Uint8Array(200_000).fill(7)
  await writeFile(file, tarOf(...sound, { name: 'large.bin', content: large }, { name: '../evil.sh', content: 'x' }))
  const silent = { warn: () => undefined, say: () => undefined, note: () => undefined } as unknown as Io
  const context = { io: silent, domain, config, directory, globals: {}, args: { package: file }, flags: {} }
  const before = [await commitsSeenBy(server.database), await readdir(server.dataDir, { recursive: true })]
  await expect(install.run(context as never)).rejects.toMatchObject({
    code: 1,
    message: expect.stringContaining('../evil.sh leads out of the package.') as string,
  })
  expect([await commitsSeenBy(server.database), await readdir(server.dataDir, { recursive: true })]).toEqual(before)
  expect(await readdir(folder)).toEqual(['app.tar'])
})
