import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  cpSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { recover } from '../../../src/client/sync/apply/recovery.ts'
import { makeCommitBatcher } from '../../../src/client/sync/state/commit-batcher.ts'
import { openState, type Intent } from '../../../src/client/sync/state/sync-state.ts'
import { findRoot, initRoot, listRoots, type InitOptions } from '../../../src/client/sync/state/root.ts'
import { ownIdentity } from '../../../src/host/process-identity.ts'
import { FakeServer } from './fake-server.ts'
import { makeBench, readTree, temporaryFolder, write, type Bench } from './bench.ts'

// What must be so before anything is done, and what is done when the past is lost.

async function settled(count = 3): Promise<Bench> {
  const bench = await makeBench()
  for (let at = 0; at < count; at += 1) write(bench.root, `d/${at}.txt`, `content ${at}`)
  await bench.sync()
  bench.server.log.length = 0
  return bench
}

const marker = (root: string) => join(root, '.svc', 'root.json')

/** Why a run is refused; it must not have changed anything. */
async function refusal({ root, server, sync }: Bench): Promise<unknown> {
  const before = [readTree(root), server.tree()]
  const error = await sync().catch((each: unknown) => each)
  expect([readTree(root), server.tree()]).toEqual(before)
  expect(error).toMatchObject({ exitCode: 8 })
  return (error as { reason?: unknown }).reason
}

test('an empty mount point is not taken for an emptied folder', async () => {
  const bench = await settled()
  renameSync(bench.root, `${bench.root}-elsewhere`)
  mkdirSync(bench.root)
  onTestFinished(() => rmSync(`${bench.root}-elsewhere`, { recursive: true }))
  expect(await refusal(bench)).toBe('gone')
  expect(bench.server.log).toEqual([])
  expect(readdirSync(bench.root)).toEqual([])
})

test('a folder without its mark is refused, and putting an empty mark there does not help', async () => {
  const bench = await settled()
  rmSync(marker(bench.root))
  expect(await refusal(bench)).toBe('gone')
  writeFileSync(marker(bench.root), '{}')
  expect(await refusal(bench)).toBe('not_ours')
})

test('another folder with a mark of its own is refused', async () => {
  const bench = await settled()
  const other = await settled()
  cpSync(marker(other.root), marker(bench.root))
  expect(await refusal(bench)).toBe('not_ours')
})

test('a copy of a synchronised folder is refused; a folder that was moved is followed', async () => {
  const bench = await settled()
  const copy = join(temporaryFolder(), 'copy')
  cpSync(bench.root, copy, { recursive: true })
  await expect(findRoot(copy, '/', bench.stateFolder)).resolves.toBe(copy)
  await expect(bench.sync({ path: copy })).rejects.toMatchObject({ exitCode: 8, reason: 'copied' })

  rmSync(bench.root, { recursive: true })
  write(copy, 'moved.txt', 'moved')
  expect(await bench.sync({ path: copy })).toMatchObject({ in_sync: true, uploaded: { files: 1 }, removed_there: 0 })
  expect(await listRoots(bench.stateFolder, () => expect.unreachable())).toMatchObject([{ path: copy }])
})

test('deleting much of what was known is refused, until it is said to be meant', async () => {
  const bench = await settled(60)
  const { root, server, sync } = bench
  for (let at = 0; at < 30; at += 1) rmSync(join(root, `d/${at}.txt`))
  write(root, 'new.txt', 'new')
  expect(await refusal(bench)).toBe('mass_delete')
  expect(server.text('/new.txt')).toBeUndefined()
  await expect(sync({ maxDelete: { files: 29 } })).rejects.toMatchObject({ reason: 'mass_delete' })
  await expect(sync({ maxDelete: { percent: 49 } })).rejects.toMatchObject({ reason: 'mass_delete' })
  expect(await sync({ maxDelete: { percent: 50 } })).toMatchObject({ removed_there: 30, uploaded: { files: 1 } })
})

test('the same holds when the server lost its files', async () => {
  const bench = await settled(60)
  const { root, server, sync } = bench
  for (let at = 0; at < 30; at += 1) server.remove(`/d/${at}.txt`)
  expect(await refusal(bench)).toBe('mass_delete')
  expect(await sync({ maxDelete: 'any' })).toMatchObject({ removed_here: 30 })
  expect(Object.keys(readTree(root))).toHaveLength(31)
})

test('a side that became empty is refused, however little was there', async () => {
  const here = await settled(2)
  rmSync(join(here.root, 'd'), { recursive: true })
  expect(await refusal(here)).toBe('mass_delete')
  const there = await settled(2)
  there.server.remove('/d')
  expect(await refusal(there)).toBe('mass_delete')
})

test('few deletions, or a small part of many, are nobody to be stopped for', async () => {
  const few = await settled(30)
  for (let at = 0; at < 24; at += 1) rmSync(join(few.root, `d/${at}.txt`))
  expect(await few.sync()).toMatchObject({ removed_there: 24 })
  const part = await settled(100)
  for (let at = 0; at < 30; at += 1) rmSync(join(part.root, `d/${at}.txt`))
  expect(await part.sync()).toMatchObject({ removed_there: 30 })
})

test('renaming a folder is no mass deletion', async () => {
  const { root, server, sync } = await settled(60)
  renameSync(join(root, 'd'), join(root, 'e'))
  expect(await sync()).toMatchObject({ in_sync: true })
  expect(server.tree()).toEqual(readTree(root))
  const files = [...server.files.keys()].map((path): [string, string] => [path, server.text(path)!])
  server.remove('/e')
  for (const [path, content] of files) server.put(path.replace('/e/', '/f/'), content)
  expect(await sync()).toMatchObject({ in_sync: true })
  expect(readTree(root)).toEqual(server.tree())
})

for (const [name, lose] of [
  ['lost', (state: string) => rmSync(state)],
  [
    'damaged',
    (state: string) => writeFileSync(state, 'no database at all, but long enough to be read as one'.repeat(200)),
  ],
] as const) {
  test(`with its state ${name}, everything is compared anew and nothing is deleted`, async () => {
    const { root, server, sync, events } = await settled()
    const state = join(root, '.svc', 'state.db')
    write(root, 'd/0.txt', 'edited here')
    server.put('/d/0.txt', 'edited there')
    rmSync(join(root, 'd/1.txt'))
    server.remove('/d/2.txt')
    lose(state)

    const { conflicts } = await sync()

    const both = {
      '/d': null,
      '/d/0.txt': 'edited there',
      [conflicts[0]!.copy]: 'edited here',
      '/d/1.txt': 'content 1',
      '/d/2.txt': 'content 2',
    }
    expect(readTree(root)).toEqual(both)
    expect(server.tree()).toEqual(both)
    expect(events.filter(({ event }) => event === 'notice')).toMatchObject([{ code: 'state_lost' }])
  })
}

test('state that belongs to another folder is not used', async () => {
  const one = await settled()
  const two = await settled(5)
  cpSync(join(two.root, '.svc', 'state.db'), join(one.root, '.svc', 'state.db'))
  rmSync(join(one.root, 'd/1.txt'))
  expect(await one.sync()).toMatchObject({ removed_there: 0, downloaded: { files: 1 } })
})

test('after the server was restored everything is compared again: what it lost is sent again', async () => {
  const { root, server, sync, events } = await settled(40)
  server.epoch = 'epoch-2'
  for (let at = 0; at < 39; at += 1) server.remove(`/d/${at}.txt`)
  server.put('/d/39.txt', 'older')
  server.put('/d/back.txt', 'deleted long ago, and back')
  const summary = await sync()
  expect(summary).toMatchObject({ removed_here: 0, uploaded: { files: 40 }, downloaded: { files: 2 } })
  expect(summary.conflicts).toHaveLength(1)
  expect(readTree(root)).toEqual(server.tree())
  expect(events).toContainEqual(expect.objectContaining({ event: 'notice', code: 'server_restored' }))
})

test('another account, and another server, are refused before anything is sent', async () => {
  const account = await settled()
  account.server.userId = 8
  write(account.root, 'x.txt', 'x')
  await expect(account.sync({ token: 'b'.repeat(64) })).rejects.toMatchObject({ exitCode: 8, reason: 'other_account' })
  const server = await settled()
  server.server.serverId = 'server-2'
  server.server.put('/x.txt', 'x')
  expect(await refusal(server)).toBe('other_account')
  expect(server.server.requests('upload')).toBe(0)
})

test('who is signed in is asked once for a token, and again once a day', async () => {
  const { server, sync, time } = await settled()
  await sync()
  expect(server.requests('validate')).toBe(0)
  await sync({ token: 'b'.repeat(64) })
  expect(server.requests('validate')).toBe(1)
  time.now += 86_400_000
  await sync({ token: 'b'.repeat(64) })
  expect(server.requests('validate')).toBe(2)
})

/** Every path below a folder with what a change would leave on it. */
function everything(folder: string): string[] {
  return [folder, ...readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name))].map(
    (path) => {
      const { size, mtimeNs, ctimeNs, ino } = lstatSync(path, { bigint: true })
      return [path, size, mtimeNs, ctimeNs, ino].join(' ')
    },
  )
}

test('a dry run shows what would be done and changes nothing, here, there or in the state', async () => {
  const { root, server, sync, events, stateFolder } = await settled()
  write(root, 'd/0.txt', 'edited')
  write(root, 'new/x.txt', 'new')
  rmSync(join(root, 'd/1.txt'))
  server.put('/d/2.txt', 'edited there')
  server.put('/y.txt', 'new there')
  const look = () => [root, stateFolder].map(everything)
  const before = [look(), server.tree()]
  const summary = await sync({ dryRun: true })
  expect([look(), server.tree()]).toEqual(before)
  const planned = events
    .filter((event) => event.event === 'plan')
    .map(({ op, path, reason }) => `${op} ${path} ${reason}`)
  expect(planned.sort()).toEqual([
    'download /d/2.txt changed_there',
    'download /y.txt new_there',
    'make-remote /new new_here',
    'remove-remote /d/1.txt deleted_here',
    'upload /d/0.txt changed_here',
    'upload /new/x.txt new_here',
  ])
  expect(summary).toMatchObject({ dry_run: true, in_sync: false, uploaded: { files: 0 } })
})

test('a dry run says that the real one would be refused', async () => {
  const { root, sync } = await settled(2)
  rmSync(join(root, 'd'), { recursive: true })
  expect(await sync({ dryRun: true })).toMatchObject({ refused: { reason: 'mass_delete' } })
})

test('a dry run of a folder that was never synchronised leaves no trace in it', async () => {
  const { root, server, sync } = await makeBench()
  server.put('/x.txt', 'x')
  await sync({ dryRun: true })
  expect(readdirSync(join(root, '.svc'))).toEqual(['root.json'])
})

test('while another run holds the lock, this one does not begin', async () => {
  const { root, server, sync } = await settled()
  const sleeper = spawn(process.execPath, ['-e', 'setInterval(() => undefined, 1e6)'])
  onTestFinished(() => void sleeper.kill('SIGKILL'))
  await once(sleeper, 'spawn')
  const lock = join(root, '.svc', 'lock')
  const stat = readFileSync(`/proc/${sleeper.pid}/stat`, 'latin1')
  const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim()
  const began = `${boot} ${stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]}`
  writeFileSync(lock, JSON.stringify({ ...ownIdentity(), pid: sleeper.pid, began }))
  await expect(sync()).rejects.toMatchObject({ exitCode: 6 })
  await expect(sync({ dryRun: true })).rejects.toMatchObject({ exitCode: 6 })
  expect(server.log).toEqual([])

  sleeper.kill('SIGKILL')
  await once(sleeper, 'exit')
  expect(await sync()).toMatchObject({ in_sync: true })
  expect(existsSync(lock)).toBe(false)
})

for (const [name, holder] of [
  ['a process that is gone', { ...ownIdentity(), pid: 2 ** 22 - 1 }],
  ['a process whose number was given to another', { ...ownIdentity(), pid: 1, began: 'another boot 7' }],
  ['nobody, after a power cut', undefined],
] as const) {
  test(`a lock of ${name} is taken over`, async () => {
    const { root, sync } = await settled()
    writeFileSync(join(root, '.svc', 'lock'), holder ? JSON.stringify(holder) : '')
    expect(await sync()).toMatchObject({ in_sync: true })
    expect(readdirSync(join(root, '.svc')).filter((each) => each.startsWith('lock'))).toEqual([])
  })
}

for (const [name, holder] of [
  ['another machine', { pid: 1, host: 'elsewhere', began: '' }],
  ['a container with the same host name', { ...ownIdentity(), pid: 2 ** 22 - 1, scope: 'a container' }],
] as const) {
  test(`a lock of ${name} is respected`, async () => {
    const { root, sync } = await settled()
    const lock = join(root, '.svc', 'lock')
    writeFileSync(lock, JSON.stringify(holder))
    await expect(sync()).rejects.toThrow(`Another run on ${holder.host} uses this folder. If it no longer runs, remove`)
  })
}

test('of two runs that begin together one works and the other is told', async () => {
  const { root, sync } = await settled()
  write(root, 'x.txt', 'x')
  const results = await Promise.allSettled([sync(), sync()])
  expect(results.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
})

/** Puts into the state what a run leaves there that is killed at the worst moment. */
function intend(
  { root, stateFolder }: Bench,
  intent: Parameters<ReturnType<typeof openState>['state']['commit']>[0],
): void {
  const { root_id, server_id, user_id } = JSON.parse(readFileSync(marker(root), 'utf8')) as never
  expect(existsSync(stateFolder)).toBe(true)
  const { state } = openState(join(root, '.svc', 'state.db'), { root_id, server_id, user_id })
  state.commit(intent)
  state.close()
}

test('a deletion by the engine that was cut off is not taken for one by the user', async () => {
  const bench = await settled()
  const { root, server, sync } = bench
  // The server had deleted it, the engine removed it here and was killed; then somebody restored it on the server.
  intend(bench, [{ begin: { kind: 'remove', key: '/d/1.txt', path: '/d/1.txt' } }])
  rmSync(join(root, 'd/1.txt'))
  expect(await sync()).toMatchObject({ removed_there: 0, downloaded: { files: 1 } })
  expect(server.text('/d/1.txt')).toBe('content 1')
  expect(readTree(root)).toMatchObject({ '/d/1.txt': 'content 1' })
})

test('a deletion that was announced but not done leaves the file as it is', async () => {
  const bench = await settled()
  intend(bench, [{ begin: { kind: 'remove', key: '/d/1.txt', path: '/d/1.txt' } }])
  expect(await bench.sync()).toMatchObject({ in_sync: true, removed_here: 0, removed_there: 0 })
})

/** A deletion here that was cut off after the file went to the trash, in which it was written to at the last moment. */
async function cutOffDeletion() {
  const bench = await settled()
  const { root, server } = bench
  const trash = join(root, '.svc', 'trash', 'run', 'd', '1.txt')
  mkdirSync(dirname(trash), { recursive: true })
  const { size, mtimeNs } = statSync(join(root, 'd/1.txt'), { bigint: true })
  const file = { trash, size: Number(size), mtimeNs }
  intend(bench, [{ begin: { kind: 'remove', key: '/d/1.txt', path: '/d/1.txt', file } }])
  renameSync(join(root, 'd/1.txt'), trash)
  writeFileSync(trash, 'written at the last moment')
  server.remove('/d/1.txt')
  return { ...bench, trash }
}

test('an edit that went into a file just being deleted is put back and sent', async () => {
  const { root, server, sync, trash } = await cutOffDeletion()
  expect(await sync()).toMatchObject({ uploaded: { files: 1 }, conflicts: [] })
  expect(server.text('/d/1.txt')).toBe('written at the last moment')
  expect(server.tree()).toEqual(readTree(root))
  expect(existsSync(trash)).toBe(false)
})

test('an edit whose place was taken meanwhile stands beside it as a conflict copy', async () => {
  const { root, server, sync } = await cutOffDeletion()
  write(root, 'd/1.txt', 'somebody else')
  await sync()
  const contents = Object.values(readTree(root))
  expect(contents).toContain('somebody else')
  expect(contents).toContain('written at the last moment')
  expect(server.tree()).toEqual(readTree(root))
})

test('an edit that was put back already is not put back twice', async () => {
  const { root, sync, trash } = await cutOffDeletion()
  linkSync(trash, join(root, 'd/1.txt'))
  expect(await sync()).toMatchObject({ uploaded: { files: 1 }, conflicts: [] })
  expect(existsSync(trash)).toBe(false)
})

test('an edit in a folder that somebody deleted since stays in the trash', async () => {
  const { root, sync, trash } = await cutOffDeletion()
  rmSync(join(root, 'd'), { recursive: true })
  await sync({ maxDelete: 'any' })
  expect(readFileSync(trash, 'utf8')).toBe('written at the last moment')
})

test('an edit that went into a file just being replaced comes back as a conflict copy', async () => {
  const bench = await settled()
  const { root, server, sync } = bench
  const trash = join(root, '.svc', 'trash', 'run', 'd', '1.txt')
  mkdirSync(dirname(trash), { recursive: true })
  linkSync(join(root, 'd/1.txt'), trash)
  const { size, mtimeNs } = statSync(trash, { bigint: true })
  intend(bench, [{ begin: { kind: 'replace', key: '/d/1.txt', path: '/d/1.txt', trash, size: Number(size), mtimeNs } }])
  // The rename was done, and a program that had the old file open went on writing into it.
  writeFileSync(join(root, 'd/1.txt.new'), 'from the server')
  renameSync(join(root, 'd/1.txt.new'), join(root, 'd/1.txt'))
  server.put('/d/1.txt', 'from the server')
  writeFileSync(trash, 'written at the last moment')

  const { conflicts } = await sync()

  expect(conflicts).toHaveLength(1)
  expect(readTree(root)).toMatchObject({
    '/d/1.txt': 'from the server',
    [conflicts[0]!.copy]: 'written at the last moment',
  })
  expect(server.tree()).toEqual(readTree(root))
})

test('a replacement that was announced but not done leaves the file alone and out of the trash', async () => {
  const bench = await settled()
  const { root, sync } = bench
  const trash = join(root, '.svc', 'trash', 'run', '1.txt')
  mkdirSync(dirname(trash), { recursive: true })
  linkSync(join(root, 'd/1.txt'), trash)
  const { size, mtimeNs } = statSync(trash, { bigint: true })
  intend(bench, [{ begin: { kind: 'replace', key: '/d/1.txt', path: '/d/1.txt', trash, size: Number(size), mtimeNs } }])
  write(root, 'd/1.txt', 'edited since')
  expect(await sync()).toMatchObject({ conflicts: [], uploaded: { files: 1 } })
  expect(existsSync(trash)).toBe(false)
})

const begun: Intent[] = [
  { kind: 'remove', key: '/d/1.txt', path: '/d/1.txt' },
  { kind: 'replace', key: '/d/1.txt', path: '/d/1.txt', trash: '/nowhere', size: 1, mtimeNs: 1n },
  { kind: 'park', key: '/d/1.txt', side: 'here', from: '/d/1.txt', to: '/2', at: '/nowhere', placing: false },
]

for (const intent of begun) {
  test(`what was begun is not taken for done while the disk is away: ${intent.kind}`, async () => {
    const bench = await settled()
    intend(bench, [{ begin: intent }])
    const { root_id, server_id, user_id } = JSON.parse(readFileSync(marker(bench.root), 'utf8')) as never
    const { state } = openState(join(bench.root, '.svc', 'state.db'), { root_id, server_id, user_id })
    onTestFinished(() => state.close())
    const looks = ['there', 'away']
    const work = {
      root: bench.root,
      state,
      commit: makeCommitBatcher(state),
      parts: new Map(),
      clock: { now: () => 0 },
      assertRoot() {
        if (looks.shift() !== 'there') throw new Error('The disk is away.')
      },
    }
    await expect(recover(work as unknown as Parameters<typeof recover>[0])).rejects.toThrow('The disk is away.')
    expect(state.intents()).toEqual([intent])
  })
}

test('what a killed run left in its temporary folder is cleared away', async () => {
  const { root, sync } = await settled()
  write(root, '.svc/tmp/leftover', 'half a file')
  await sync()
  expect(readdirSync(join(root, '.svc', 'tmp'))).toEqual([])
})

function initOptions(path: string, more: Partial<InitOptions> = {}): InitOptions {
  const owner = { server_id: 'server-1', user_id: 7 }
  return {
    path,
    stateFolder: temporaryFolder(),
    owner,
    url: 'http://127.0.0.1:1',
    username: 'ada',
    device_name: 'Laptop',
    adopt: false,
    secrets: [],
    ...more,
  }
}

test('a folder is set up once; doing it again changes nothing', async () => {
  const options = initOptions(join(temporaryFolder(), 'new', 'folder'))
  expect(await initRoot(options)).toEqual({ path: options.path, created: true })
  const before = readFileSync(marker(options.path), 'utf8')
  expect(await initRoot(options)).toEqual({ path: options.path, created: false })
  expect(readFileSync(marker(options.path), 'utf8')).toBe(before)
  expect(statSync(marker(options.path)).mode & 0o777).toBe(0o600)
  expect(statSync(dirname(marker(options.path))).mode & 0o777).toBe(0o700)
})

test('a folder within a synchronised one, or around one, is refused', async () => {
  const top = temporaryFolder()
  const options = initOptions(join(top, 'a'))
  await initRoot(options)
  await expect(initRoot({ ...options, path: join(top, 'a', 'b') })).rejects.toMatchObject({
    exitCode: 8,
    reason: 'nested',
  })
  await expect(initRoot({ ...options, path: top })).rejects.toMatchObject({ exitCode: 8, reason: 'nested' })
  await expect(initRoot({ ...options, path: '/' })).rejects.toMatchObject({ exitCode: 8 })
  expect(existsSync(join(top, '.svc'))).toBe(false)
  expect(readdirSync(join(top, 'a'))).toEqual(['.svc'])
})

test('a folder that holds the tokens of this program is refused', async () => {
  const top = temporaryFolder()
  const secrets = [join(top, 'config', 'credentials.json')]
  await expect(initRoot(initOptions(top, { secrets }))).rejects.toMatchObject({ exitCode: 8 })
})

test('a folder of another account is refused, and adopting it is not a way around', async () => {
  const options = initOptions(temporaryFolder())
  await initRoot(options)
  const other = { ...options, owner: { server_id: 'server-1', user_id: 8 } }
  await expect(initRoot(other)).rejects.toMatchObject({ reason: 'other_account' })
  await expect(initRoot({ ...other, adopt: true })).rejects.toMatchObject({ reason: 'other_account' })
})

test('a marked folder that this machine does not know can be adopted: compared anew, nothing deleted', async () => {
  const old = await settled()
  const server = new FakeServer()
  server.put('/d/0.txt', 'content 0')
  server.put('/other.txt', 'other')
  await expect(makeBench({ server, root: old.root })).rejects.toMatchObject({ reason: 'not_ours' })
  const bench = await makeBench({ server, root: old.root, adopt: true })
  expect(await bench.sync()).toMatchObject({
    uploaded: { files: 2 },
    downloaded: { files: 1 },
    removed_here: 0,
    removed_there: 0,
  })
  expect(server.tree()).toEqual(readTree(old.root))
})

test('the folder is found from within, by name, or because it is the only one', async () => {
  const top = temporaryFolder()
  const options = initOptions(join(top, 'one'))
  const { stateFolder } = options
  await expect(findRoot(undefined, top, stateFolder)).rejects.toMatchObject({ exitCode: 5 })
  await initRoot(options)
  mkdirSync(join(top, 'one', 'deep', 'er'), { recursive: true })
  await expect(findRoot(undefined, join(top, 'one/deep/er'), stateFolder)).resolves.toBe(options.path)
  await expect(findRoot('one', top, stateFolder)).resolves.toBe(options.path)
  await expect(findRoot(undefined, '/', stateFolder)).resolves.toBe(options.path)
  await expect(findRoot('deep', options.path, stateFolder)).rejects.toThrow(/is in the synchronised folder/)
  await expect(findRoot(top, '/', stateFolder)).rejects.toThrow(/not a synchronised folder/)
  await initRoot({ ...options, path: join(top, 'two') })
  await expect(findRoot(undefined, '/', stateFolder)).rejects.toThrow(/Several folders/)
  rmSync(join(top, 'two'), { recursive: true })
  await expect(findRoot(undefined, '/', stateFolder)).resolves.toBe(options.path)
  rmSync(marker(options.path))
  await expect(findRoot('one', top, stateFolder)).rejects.toMatchObject({ exitCode: 8, reason: 'gone' })
  await expect(findRoot(undefined, join(top, 'one/deep'), stateFolder)).rejects.toMatchObject({ exitCode: 8 })
})
