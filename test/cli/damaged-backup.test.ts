import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { manifestOf, objectAt } from '../support/backups.ts'
import { runCommand } from '../support/command.ts'
import { bytesOf, sha256Of } from '../support/contents.ts'
import { hasPty, onTerminal } from '../support/pty.ts'
import { folderOfTest } from '../support/server.ts'

interface Restored {
  lost: { contents: { sha256: string; used_by: string[] }[]; missing: unknown[]; files: string[] }
}

const intact = bytesOf(100_000)
const doomed = bytesOf(120_000)

let base = ''

/** Runs a command that must succeed. */
async function done(...words: Parameters<typeof runCommand>): Promise<void> {
  const { code, stderr } = await runCommand(...words)
  if (code !== 0) throw new Error(`svc ${words.slice(1).join(' ')} ended with ${code}: ${stderr}`)
}

/** An installation with a sound file and one whose object in the backup the tests damage, and its backup. */
beforeAll(async () => {
  base = await mkdtemp(join(tmpdir(), 'svc-damaged-backup-'))
  const dataDir = join(base, 'data')
  await writeFile(join(base, 'intact.bin'), intact)
  await writeFile(join(base, 'doomed.bin'), doomed)
  const files = [
    { path: '/photos/intact.bin', from: 'intact.bin' },
    { path: '/photos/doomed.bin', from: 'doomed.bin' },
    { path: '/copies/doomed again.bin', from: 'doomed.bin' },
  ]
  const users = [{ username: 'ada', password: 'analytical engine', files }]
  await writeFile(join(base, 'seed.json'), JSON.stringify({ version: 1, users }))
  await done(dataDir, 'seed', join(base, 'seed.json'))
  await done(dataDir, 'config', 'set', 'log_level', 'warn')
  await done(dataDir, 'backup', 'create', '--to', join(base, 'backups'))
})

afterAll(() => rm(base, { recursive: true }))

/** Backups of one's own to damage. */
async function backedUp() {
  const folder = await folderOfTest()
  const [dataDir, backups, restored] = [join(folder, 'data'), join(folder, 'backups'), join(folder, 'restored')]
  await cp(join(base, 'backups'), backups, { recursive: true })
  await cp(join(base, 'data'), dataDir, { recursive: true })
  const restore = (...flags: string[]) =>
    runCommand(restored, 'backup', 'restore', 'latest', '--from', backups, '--data-dir', restored, ...flags)
  const manifest = await manifestOf(backups, (await readdir(join(backups, 'snapshots')))[0]!.replace('.json', ''))
  return { folder, dataDir, backups, restored, restore, manifest }
}

const LOST = ['ada: /photos/doomed.bin', 'ada: /copies/doomed again.bin']

const damages: [string, (object: string) => Promise<void>][] = [
  ['is missing', (object) => rm(object)],
  ['is cut off', (object) => writeFile(object, doomed.subarray(0, 1_000))],
  ['has another byte', (object) => writeFile(object, Buffer.from(doomed).fill(7, 500, 501))],
  ['is a folder', (object) => rm(object).then(() => mkdir(object))],
]

describe('a backup of which an object', () => {
  test.each(damages)(
    '%s restores everything else with --partial, and names what is lost',
    async (_name, damage) => {
      const { folder, backups, restore, restored } = await backedUp()
      await damage(objectAt(backups, sha256Of(doomed)))

      const verified = await runCommand(restored, 'backup', 'verify', '--from', backups, '--json')
      const { problems } = JSON.parse(verified.stdout) as { problems: { used_by: string[] }[] }
      expect([verified.code, problems.map(({ used_by }) => used_by.toSorted())]).toEqual([1, [LOST.toSorted()]])

      const refused = await restore()
      expect(refused).toMatchObject({ code: 1, stdout: '' })
      expect(refused.stderr).toContain('To restore everything that can be read: svc backup restore')
      expect(await readdir(folder)).not.toContain('restored')

      const { code, stdout } = await restore('--partial', '--json')
      const { lost } = JSON.parse(stdout) as Restored
      expect([code, lost.files, lost.contents.map(({ sha256 }) => sha256)]).toEqual([3, [], [sha256Of(doomed)]])
      expect(lost.contents[0]!.used_by.toSorted()).toEqual(LOST.toSorted())

      const checked = await runCommand(restored, 'storage', 'check', '--json')
      expect([checked.code, checked.stdout.includes('/photos/doomed.bin')]).toEqual([1, true])
      expect(checked.stdout).not.toContain('intact.bin')
    },
    60_000,
  )
})

test('people are shown a line for each lost file, and where else it may be', async () => {
  const { backups, restore } = await backedUp()
  await rm(objectAt(backups, sha256Of(doomed)))
  const { code, stdout } = await restore('--partial')
  expect(code).toBe(3)
  for (const line of LOST) expect(stdout).toContain(`\n  ${line}\n`)
  expect(stdout).toMatch(/svc backup extract/)
})

test('a sound backup is restored the same with --partial', async () => {
  const { restore } = await backedUp()
  const { code, stdout } = await restore('--partial', '--json')
  expect([code, (JSON.parse(stdout) as Restored).lost]).toEqual([0, { contents: [], missing: [], files: [] }])
})

test('the list of contents and the configuration are not needed', async () => {
  const { backups, restore, manifest } = await backedUp()
  for (const { sha256 } of manifest.blobs.lists) await rm(objectAt(backups, sha256))
  await rm(objectAt(backups, manifest.files.find(({ path }) => path === 'config.json')!.sha256))
  expect(await restore()).toMatchObject({ code: 1, stdout: '' })
  const { code, stdout } = await restore('--partial', '--json')
  expect([code, (JSON.parse(stdout) as Restored).lost]).toEqual([
    3,
    { contents: [], missing: [], files: ['config.json'] },
  ])
})

const HEADER = 'svc-backup.json'

test.each<[string, (header: string) => Promise<unknown>]>([
  ['is missing', (header) => rm(header)],
  ['is empty', (header) => writeFile(header, '')],
  ['has another byte', async (header) => writeFile(header, (await readFile(header)).fill(7, 3, 4))],
  ['is a folder', (header) => rm(header).then(() => mkdir(header))],
  ['is a link to nothing', (header) => rm(header).then(() => symlink('nowhere', header))],
])(
  'backups whose header %s are listed and restored, and no new one is put beside them',
  async (_name, damage) => {
    const { dataDir, backups, restore } = await backedUp()
    await damage(join(backups, HEADER))
    for (const flags of [[], ['--new']])
      expect(await runCommand(dataDir, 'backup', 'create', '--to', backups, ...flags)).toMatchObject({
        code: 1,
        stdout: '',
        stderr: expect.stringMatching(/svc-backup\.json is .*restored: store new ones in another folder/) as string,
      })
    expect(await runCommand(dataDir, 'backup', 'list', '--from', backups)).toMatchObject({ code: 0 })
    const verified = await runCommand(dataDir, 'backup', 'verify', '--from', backups)
    expect(verified).toMatchObject({ code: 1, stdout: expect.stringContaining(HEADER) as string })
    expect(verified.stdout).not.toContain('--recheck')
    expect(await restore()).toMatchObject({ code: 0 })
  },
  60_000,
)

test('a backup whose manifest is damaged does not hide the others', async () => {
  const { dataDir, backups } = await backedUp()
  const id = (await readdir(join(backups, 'snapshots')))[0]!.replace('.json', '')
  await done(dataDir, 'backup', 'create', '--to', backups)
  await writeFile(join(backups, 'snapshots', `${id}.json`), '{')
  const { code, stdout, stderr } = await runCommand(dataDir, 'backup', 'list', '--from', backups, '--json')
  expect([code, (JSON.parse(stdout) as unknown[]).length]).toEqual([3, 1])
  expect([stdout.includes(id), stderr]).toEqual([
    false,
    expect.stringContaining(`${id}.json is not valid: it is not JSON`),
  ])
})

test('encrypted backups without their header are restored with the passphrase, and their key is not replaced', async () => {
  const { folder, dataDir, restored } = await backedUp()
  const [backups, file] = [join(folder, 'sealed'), join(folder, 'passphrase.txt')]
  await writeFile(file, 'a difference engine')
  const passphrase = ['--passphrase-file', file]
  await done(dataDir, 'backup', 'create', '--to', backups, '--encrypt', ...passphrase)
  await rm(join(backups, HEADER))
  const key = await readFile(join(backups, 'key.age'))
  const anew = await runCommand(dataDir, 'backup', 'create', '--to', backups, '--encrypt', '--new', ...passphrase)
  expect([anew.code, await readFile(join(backups, 'key.age'))]).toEqual([1, key])
  await done(restored, 'backup', 'restore', 'latest', '--from', backups, '--data-dir', restored, ...passphrase)
}, 120_000)

test('a cut-off object is replaced by the next backup, which says so and ends with 3', async () => {
  const { dataDir, backups } = await backedUp()
  const object = objectAt(backups, sha256Of(doomed))
  await writeFile(object, doomed.subarray(0, 1_000))
  const { code, stderr } = await runCommand(dataDir, 'backup', 'create', '--to', backups)
  expect([code, stderr]).toEqual([3, expect.stringContaining('Stored 1 damaged or missing object')])
  expect((await readFile(object)).equals(doomed)).toBe(true)
})

test.each(['--json', '--recheck'])(
  'what stands in the place of an object is put aside, a missing one is stored anew, and create %s says so',
  async (flag) => {
    const { folder, dataDir, backups } = await backedUp()
    const [first, second] = [objectAt(backups, sha256Of(doomed)), objectAt(backups, sha256Of(intact))]
    await rm(first)
    await mkdir(first)
    await writeFile(join(first, 'somebody else.txt'), 'kept')
    await rm(second)
    await writeFile(
      join(folder, 'more.json'),
      JSON.stringify({ version: 1, users: [{ username: 'bob', generate: true }] }),
    )
    await done(dataDir, 'seed', join(folder, 'more.json'))
    const { code, stderr } = await runCommand(dataDir, 'backup', 'create', '--to', backups, flag)
    expect([code, stderr]).toEqual([3, expect.stringContaining('Stored 2 damaged or missing objects')])
    const aside = (await readdir(join(first, '..'))).find((name) => name.endsWith('.aside'))!
    expect(await readFile(join(first, '..', aside, 'somebody else.txt'), 'utf8')).toBe('kept')
    await done(dataDir, 'backup', 'verify', '--from', backups)
  },
)

test('the damage of a sealed object or manifest says which one it is', async () => {
  const { folder, dataDir } = await backedUp()
  const [backups, file] = [join(folder, 'sealed'), join(folder, 'passphrase.txt')]
  await writeFile(file, 'a difference engine')
  const create = ['backup', 'create', '--to', backups]
  await done(dataDir, ...create, '--encrypt', '--passphrase-file', file)
  await done(dataDir, ...create)
  const manifests = (await readdir(join(backups, 'snapshots'))).map((name) => join(backups, 'snapshots', name))
  const objects = await readdir(join(backups, 'objects'), { recursive: true, withFileTypes: true })
  const sealed = objects.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name))
  for (const path of [manifests[0]!, ...sealed]) {
    const bytes = await readFile(path)
    await writeFile(path, bytes.fill(bytes[20]! ^ 1, 20, 21))
  }
  const { stdout } = await runCommand(dataDir, 'backup', 'verify', '--from', backups, '--json')
  const { problems } = JSON.parse(stdout) as { problems: { what: string }[] }
  for (const { what } of problems) expect(what).toMatch(/^The (manifest .*\.sealed|object [0-9a-f]{64}) was changed/)
  expect(problems.some(({ what }) => what.startsWith('The manifest'))).toBe(true)
}, 60_000)

test('without the database or the key nothing is restored', async () => {
  const { folder, backups, restore, manifest } = await backedUp()
  const key = manifest.files.find(({ path }) => path.startsWith('keys/'))!
  for (const sha256 of [key.sha256, manifest.database.pieces[0]!]) {
    await rm(objectAt(backups, sha256))
    for (const flags of [[], ['--partial']]) {
      const { code, stdout, stderr } = await restore(...flags)
      expect([code, stdout, stderr.includes(sha256)]).toEqual([1, '', true])
      expect(stderr).toMatch(/an earlier backup may be intact\. To see which: svc backup verify --from /)
    }
    expect(await readdir(folder)).not.toContain('restored')
  }
})

test('a backup stores anew what it finds damaged of earlier ones, says so and ends with 3', async () => {
  const { folder, dataDir, backups } = await backedUp()
  // Some of so many are read on any day.
  const contents = Array.from({ length: 300 }, (_, index) => bytesOf(70_000 + index))
  for (const [index, bytes] of contents.entries()) await writeFile(join(folder, `${index}.bin`), bytes)
  const files = contents.map((_, index) => ({ path: `/many/${index}`, from: `${index}.bin` }))
  await writeFile(join(folder, 'seed.json'), JSON.stringify({ version: 1, users: [{ username: 'ada', files }] }))
  expect(await runCommand(dataDir, 'seed', join(folder, 'seed.json'))).toMatchObject({ code: 0 })
  const create = (...flags: string[]) => runCommand(dataDir, 'backup', 'create', '--to', backups, '--json', ...flags)
  expect(await create()).toMatchObject({ code: 0 })

  const objects = new Map(contents.map((bytes) => [objectAt(backups, sha256Of(bytes)), bytes]))
  for (const [object, bytes] of objects) await writeFile(object, Buffer.from(bytes).fill(bytes[9]! ^ 1, 9, 10))
  const { code, stdout, stderr } = await create()
  const { repaired } = JSON.parse(stdout) as { repaired: number }
  expect([code, repaired > 0]).toEqual([3, true])
  expect(stderr).toMatch(/damaged/)
  let sound = 0
  for (const [object, bytes] of objects) if ((await readFile(object)).equals(bytes)) sound += 1
  expect(sound).toBe(repaired)

  const all = await create('--recheck')
  expect([all.code, (JSON.parse(all.stdout) as { repaired: number }).repaired]).toEqual([3, objects.size - repaired])
  expect(await runCommand(dataDir, 'backup', 'verify', '--from', backups)).toMatchObject({ code: 0 })
  expect(await create('--recheck')).toMatchObject({ code: 0 })
})

/** The ids of the backups in a folder, oldest first. */
const idsIn = async (backups: string) =>
  (await readdir(join(backups, 'snapshots'))).map((name) => name.replace(/\..*/, '')).sort()

/** Changes one byte of a file. */
async function flip(path: string): Promise<void> {
  const bytes = await readFile(path)
  await writeFile(path, bytes.fill(bytes[20]! ^ 1, 20, 21))
}

test('a damaged manifest lets no data be removed until its backup is dropped, and no backup fail', async () => {
  const { dataDir, backups } = await backedUp()
  const create = (...flags: string[]) => runCommand(dataDir, 'backup', 'create', '--to', backups, '--json', ...flags)
  const prune = (...flags: string[]) =>
    runCommand(dataDir, 'backup', 'prune', '--from', backups, '--yes', '--json', ...flags)
  await create()
  const [first, damaged] = await idsIn(backups)
  await flip(join(backups, 'snapshots', `${damaged}.json`))
  await done(dataDir, 'user', 'add', 'bob', '--generate')

  const created = await create('--prune')
  const { id, removed, problem } = JSON.parse(created.stdout) as { id: string; removed: string[]; problem: string }
  expect([created.code, removed]).toEqual([3, []])
  expect(problem).toMatch(new RegExp(`snapshots/${damaged}\\.json is not valid.* svc backup prune --drop ${damaged}`))
  expect(created.stderr).toContain(problem)

  const kept = await prune('--keep-last', '2')
  expect([kept.code, JSON.parse(kept.stdout)]).toMatchObject([3, { objects: 0, removed: [] }])
  const dropped = await prune('--drop', damaged!)
  expect([dropped.code, JSON.parse(dropped.stdout)]).toMatchObject([0, { removed: [damaged] }])
  const pruned = await prune('--keep-last', '1')
  const result = JSON.parse(pruned.stdout) as { removed: string[]; objects: number }
  expect([pruned.code, result.removed, result.objects > 0]).toEqual([0, [first], true])
  expect(await idsIn(backups)).toEqual([id])
  expect(await runCommand(dataDir, 'backup', 'verify', '--from', backups)).toMatchObject({ code: 0 })
  expect(await prune('--drop', damaged!)).toMatchObject({ code: 5 })
})

test.runIf(hasPty)('while it is asked whether old backups are to be removed, a backup can be created', async () => {
  const { dataDir, backups, manifest } = await backedUp()
  await done(dataDir, 'user', 'add', 'bob', '--generate')
  await done(dataDir, 'backup', 'create', '--to', backups)
  const env = { PATH: process.env['PATH']!, HOME: dataDir, SVC_DATA_DIR: dataDir }
  const none = ['daily', 'weekly', 'monthly'].flatMap((name) => [`--keep-${name}`, '0'])
  const { code, output } = await onTerminal(
    env,
    ['backup', 'prune', '--from', backups, '--keep-last', '1', ...none],
    [{ after: 'Remove', run: ['backup', 'create', '--to', backups], type: 'y\n' }],
  )
  expect([code, output]).toEqual([0, expect.stringContaining('Removed 1 backup and ')])
  const left = await idsIn(backups)
  expect([left.length, left.includes(manifest.id)]).toEqual([2, false])
  expect(await runCommand(dataDir, 'backup', 'verify', '--from', backups)).toMatchObject({ code: 0 })
})

test('a kept key of other backups is refused by every command, which says how to go on', async () => {
  const { folder, dataDir } = await backedUp()
  const [backups, file] = [join(folder, 'sealed'), join(folder, 'passphrase.txt')]
  await writeFile(file, 'a difference engine')
  const create = (...flags: string[]) => runCommand(dataDir, 'backup', 'create', '--to', backups, ...flags)
  await create('--encrypt', '--passphrase-file', file)
  const keys = join(dataDir, 'keys')
  const name = (await readdir(keys)).find((one) => one.startsWith('backup-'))!
  await writeFile(join(keys, name), `${'5a'.repeat(32)}\n`)
  const sealed = await readFile(join(backups, 'key.age'))
  const from = ['--from', backups]
  for (const words of [
    ['create', '--to', backups],
    ['list', ...from],
    ['passphrase', ...from, '--new-passphrase-file', file],
    ['prune', ...from, '--yes'],
  ])
    expect(await runCommand(dataDir, 'backup', ...words)).toMatchObject({
      code: 8,
      stdout: '',
      stderr: expect.stringMatching(new RegExp(`${name} opens no backup in .*Remove that file`)) as string,
    })
  expect([await readFile(join(backups, 'key.age')), (await idsIn(backups)).length]).toEqual([sealed, 1])
  await rm(join(keys, name))
  expect(await create('--passphrase-file', file)).toMatchObject({ code: 0 })
  // The key is right, and all manifests are damaged.
  const [first, second] = await idsIn(backups)
  for (const id of [first, second]) await flip(join(backups, 'snapshots', `${id}.sealed`))
  const created = await create('--prune')
  expect([created.code, created.stderr.includes(`${second}.sealed was changed`)]).toEqual([3, true])
}, 60_000)

test('a backup dated in the future displaces no other, and which is the latest must be said', async () => {
  const { dataDir, backups } = await backedUp()
  const [real] = await idsIn(backups)
  const future = real!.replace(/^\d{4}/, '2136')
  const manifest = await readFile(join(backups, 'snapshots', `${real}.json`), 'utf8')
  await writeFile(join(backups, 'snapshots', `${future}.json`), manifest.replaceAll(real!, future))
  for (const words of [['show'], ['restore', '--data-dir', join(dataDir, 'new')]])
    expect(
      await runCommand(dataDir, 'backup', words[0]!, 'latest', '--from', backups, ...words.slice(1)),
    ).toMatchObject({
      code: 8,
      stderr: expect.stringMatching(
        new RegExp(`${future} is dated in the future, and ${real} is the newest`),
      ) as string,
    })
  const none = ['daily', 'weekly', 'monthly'].flatMap((name) => [`--keep-${name}`, '0'])
  const prune = (...flags: string[]) =>
    runCommand(dataDir, 'backup', 'prune', '--from', backups, '--keep-last', '1', ...none, '--yes', '--json', ...flags)
  const pruned = await prune()
  expect(JSON.parse(pruned.stdout)).toMatchObject({
    kept: [
      { id: future, reasons: ['future'] },
      { id: real, reasons: ['last'] },
    ],
  })
  expect(await prune('--drop', future)).toMatchObject({ code: 0 })
  expect(await idsIn(backups)).toEqual([real])
  expect(await runCommand(dataDir, 'backup', 'show', 'latest', '--from', backups)).toMatchObject({ code: 0 })
})

/** Backups of an installation of one's own, whose newest manifest can be removed. */
async function created(times: number) {
  const { folder, dataDir } = await backedUp()
  const place = join(folder, 'own')
  const svc = (...words: string[]) => runCommand(dataDir, ...words)
  const create = () => svc('backup', 'create', '--to', place)
  for (let time = 0; time < times; time += 1) await done(dataDir, 'backup', 'create', '--to', place)
  const ids = (await readdir(join(place, 'snapshots'))).sort().map((name) => name.replace('.json', ''))
  const remove = (id: string) => rm(join(place, 'snapshots', `${id}.json`))
  return { folder, dataDir, place, svc, create, ids, remove }
}

test('a last backup that somebody removed is missed by doctor, verify and the next backup', async () => {
  const { place, svc, create, ids, remove } = await created(2)
  const age = async () => {
    const { checks } = JSON.parse((await svc('doctor', '--json')).stdout) as { checks: { id: string }[] }
    return checks.find(({ id }) => id === 'backup-age')
  }
  const verify = () => svc('backup', 'verify', '--from', place)
  expect(await age()).toMatchObject({ health: 'ok' })
  expect(await verify()).toMatchObject({ code: 0 })

  await remove(ids[1]!)
  const missing = `last backup ${ids[1]} is missing in ${place}`
  const found = expect.stringContaining(missing) as string
  expect(await age()).toMatchObject({ health: 'failure', found, remedy: expect.stringContaining('svc backup create') })
  const { code, stdout } = await verify()
  expect([code, stdout]).toEqual([1, expect.stringContaining(missing)])
  expect(stdout).toMatch(new RegExp(`^To create a new backup: svc .*backup create --to ${place}$`, 'm'))
  expect(await svc('backup', 'verify', ids[0]!, '--from', place)).toMatchObject({ code: 0 })
  expect(await create()).toMatchObject({ code: 3, stderr: found })

  expect(await create()).toMatchObject({ code: 0 })
  expect(await verify()).toMatchObject({ code: 0 })
})

test('a last backup that a command removed is not missed, nor what a restored installation cannot know', async () => {
  const { folder, place, svc, create, ids, remove } = await created(3)
  const restored = join(folder, 'copy')
  await done(restored, 'backup', 'restore', ids[2]!, '--from', place, '--data-dir', restored)
  expect(await svc('backup', 'prune', '--drop', ids[2]!, '--yes', '--from', place)).toMatchObject({ code: 0 })
  expect(await svc('backup', 'verify', '--from', place)).toMatchObject({ code: 0 })
  expect(await create()).toMatchObject({ code: 0 })
  await remove(ids[1]!)
  expect(await runCommand(restored, 'backup', 'verify', '--from', place)).toMatchObject({ code: 0 })
})
