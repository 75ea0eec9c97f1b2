import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { cp, open, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { iso } from '../../src/base/clock.ts'
import { openCopyFile } from '../../src/host/sqlite-engine.ts'
import { RECORD_HEADER } from '../../src/storage/backups/stream-record.ts'
import { runCommand, startCommand } from '../support/command.ts'
import { bytesOf } from '../support/contents.ts'
import { clientOf, done, startServe, type ServeProcess } from '../support/outside.ts'
import { makeRandom } from '../support/random.ts'
import { folderOfTest } from '../support/server.ts'
import { fill, smallDisk } from '../support/small-disk.ts'

/** How often server, stream and disk vanish. */
const ROUNDS = 5
const CLIENTS = 3
const CONTENT = 64 * 1024 + 1

interface StreamProcess {
  output(): string
  said(text: string): Promise<void>
  end(signal?: NodeJS.Signals): Promise<number | null>
}

async function startStream(dataDir: string, to: string, ...args: string[]): Promise<StreamProcess> {
  const child = startCommand(dataDir, 'backup', 'stream', '--to', to, ...args)
  const over = once(child, 'exit') as Promise<[number | null]>
  let output = ''
  for (const from of [child.stdout!, child.stderr!])
    from.setEncoding('utf8').on('data', (text: string) => {
      output += text
      child.emit('said')
    })
  const said = async (text: string): Promise<void> => {
    while (!output.includes(text)) {
      const isOver = await Promise.race([once(child, 'said').then(() => false), over.then(() => true)])
      if (isOver && !output.includes(text)) throw new Error(`The stream ended with ${child.exitCode}: ${output}`)
    }
  }
  const end = async (signal: NodeJS.Signals = 'SIGTERM'): Promise<number | null> => {
    child.kill(signal)
    return (await over)[0]
  }
  onTestFinished(async () => void (child.exitCode === null && child.signalCode === null && (await end('SIGKILL'))))
  await said('Streaming to')
  return { output: () => output, said, end }
}

interface Installation {
  folder: string
  dataDir: string
  to: string
}

async function installation(): Promise<Installation> {
  const folder = await folderOfTest()
  const dataDir = join(folder, 'data')
  await done(dataDir, 'user', 'add', 'ada', '--role', 'admin', '--generate')
  await done(dataDir, 'config', 'set', 'limits.enabled', 'false')
  return { folder, dataDir, to: join(folder, 'backups') }
}

const addUser = (dataDir: string, name: string) => done(dataDir, 'user', 'add', name, '--generate')

/** Waits until everything that was acknowledged before the call is in the folder. */
async function settled(dataDir: string): Promise<void> {
  const now = Date.now()
  for (;;) {
    const { stdout } = await runCommand(dataDir, 'backup', 'stream', '--status', '--json')
    const { at } = JSON.parse(stdout || '{}') as { at?: number | null }
    if ((at ?? 0) > now) return
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}

const usersOf = async (dataDir: string): Promise<string[]> =>
  (JSON.parse(await done(dataDir, 'user', 'list', '--json')) as { username: string }[]).map(({ username }) => username)

interface RestoredDocument {
  at: string
  shortfall: string | null
}

let restores = 0

/** Restores a moment; returns its folder, exit code and document. */
async function restored({ folder, dataDir, to }: Installation, moment: string, ...args: string[]) {
  const target = join(folder, `restored-${++restores}`)
  const words = ['backup', 'restore', moment, '--from', to, '--data-dir', target, '--json', ...args]
  const { code, stdout, stderr } = await runCommand(dataDir, ...words)
  return { target, code, stderr, document: JSON.parse(stdout || 'null') as RestoredDocument | null }
}

interface Upload {
  path: string
  sha256: string
  /** When the answer had arrived, epoch ms. */
  at: number
}

/** Uploads numbered files until the server is gone. */
async function work(server: ServeProcess, dataDir: string, prefix: string, seed: number): Promise<Upload[]> {
  const client = await clientOf(dataDir, server.url, 'ada')
  const random = makeRandom(seed)
  const uploads: Upload[] = []
  for (;;) {
    const bytes = bytesOf(
      random.below(3) > 0 ? 1 + random.below(3_000) : CONTENT + random.below(200_000),
      seed + uploads.length,
    )
    const path = `${prefix}-${String(uploads.length).padStart(5, '0')}.bin`
    try {
      await client.upload(`/${path}`, bytes)
    } catch {
      return uploads
    }
    uploads.push({ path, sha256: createHash('sha256').update(bytes).digest('hex'), at: Date.now() })
  }
}

/** The files of a data directory by name, with their hashes, read behind the server's back. */
function filesIn(dataDir: string): Map<string, string> {
  const database = openCopyFile(join(dataDir, 'svc.db'), { readonly: true })
  try {
    const rows = database.prepare("select name, sha256 from nodes where type = 'file'").all()
    return new Map((rows as { name: string; sha256: string }[]).map(({ name, sha256 }) => [name, sha256]))
  } finally {
    database.close()
  }
}

test('a stream that lost its lock writes to none of its chapters any more and begins another, once no other process streams there', async () => {
  const place = await installation()
  const { dataDir, to } = place
  const locks = join(to, 'stream', 'locks')
  const stream = await startStream(dataDir, to)
  await settled(dataDir)
  const chapters = async () => (await readdir(join(to, 'stream'))).filter((name) => name !== 'locks')
  const before = await chapters()
  // As another process does that takes the stream over from a machine that slept.
  const other = { kind: 'exclusive', purpose: 'svc backup stream', host: 'elsewhere', pid: 1, began: '' }
  await writeFile(join(locks, 'f'.repeat(16)), JSON.stringify(other))
  for (const name of await readdir(locks)) if (name !== 'f'.repeat(16)) await rm(join(locks, name))
  await addUser(dataDir, 'bob')
  await stream.said('The backups are in use: svc backup stream, process 1 on elsewhere.')
  expect(await chapters()).toEqual(before)
  await rm(join(locks, 'f'.repeat(16)))
  await settled(dataDir)
  expect(await chapters()).toHaveLength(before.length + 1)
  expect(await stream.end()).toBe(0)
  const { target } = await restored(place, iso(Date.now()))
  expect(await usersOf(target)).toEqual(['ada', 'bob'])
})

test(`a server that vanishes with its disk ${ROUNDS} times under load is restored without a gap`, async () => {
  const place = await installation()
  const random = makeRandom(20_261_126)
  const all: Upload[][] = []
  for (let round = 0; round < ROUNDS; round += 1) {
    const server = await startServe(place.dataDir)
    const stream = await startStream(place.dataDir, place.to)
    const clients = Array.from({ length: CLIENTS }, (_, index) =>
      work(server, place.dataDir, `${round}-${index}`, 1 + round * 10_000_000 + index * 1_000_000),
    )
    await new Promise((resolve) => setTimeout(resolve, 1_000 + random.below(3_000)))
    const killed = Date.now()
    server.process.kill('SIGKILL')
    await stream.end('SIGKILL')
    all.push(...(await Promise.all(clients)))
    await rename(place.dataDir, `${place.dataDir}-vanished-${round}`)
    const { target, code, stderr, document } = await restored(place, 'stream')
    expect([code, stderr]).toEqual([0, ''])
    const at = Date.parse(document!.at)
    expect(at).toBeLessThanOrEqual(killed)
    const files = filesIn(target)
    for (const uploads of all) {
      // Nothing acknowledged before the restored moment is missing.
      for (const { path, sha256 } of uploads.filter((upload) => upload.at < at))
        expect([path, files.get(path)]).toEqual([path, sha256])
      // What is there is the beginning of what each client did, in order.
      const first = uploads.findIndex(({ path }) => !files.has(path))
      if (first >= 0)
        for (const { path } of uploads.slice(first)) expect([path, files.has(path)]).toEqual([path, false])
    }
    await done(target, 'storage', 'check')
    // Work goes on where it ended; what was lost will not be looked for again.
    for (const uploads of all) uploads.splice(0, Infinity, ...uploads.filter(({ path }) => files.has(path)))
    place.dataDir = target
  }
  expect(await done(place.dataDir, 'backup', 'verify', '--from', place.to)).toContain('all intact')
}, 300_000)

test('any moment can be restored, and those before and after the stream are named', async () => {
  const place = await installation()
  const { dataDir, to } = place
  const stream = await startStream(dataDir, to)
  await addUser(dataDir, 'bob')
  await settled(dataDir)
  const between = new Date().toISOString()
  await addUser(dataDir, 'eve')
  await settled(dataDir)
  const second = await restored(place, between)
  expect(second).toMatchObject({ code: 0, document: { shortfall: null } })
  expect(await usersOf(second.target)).toEqual(['ada', 'bob'])
  const end = await restored(place, 'stream')
  expect(await usersOf(end.target)).toEqual(['ada', 'bob', 'eve'])
  expect(await restored(place, '2001-01-01 00:00')).toMatchObject({
    code: 5,
    stderr: expect.stringContaining('begins at') as string,
  })
  expect(await restored(place, '2999-01-01 00:00')).toMatchObject({
    code: 3,
    document: { shortfall: expect.stringContaining('has nothing between') as string },
  })
  expect(JSON.parse(await done(dataDir, 'backup', 'ls', 'stream', '--from', to, '--json'))).toHaveLength(3)
  expect((await runCommand(dataDir, 'doctor')).stdout).toMatch(/backup-stream +ok/)
  expect(await stream.end()).toBe(0)
  expect(await runCommand(dataDir, 'backup', 'stream', '--status')).toMatchObject({
    code: 3,
    stdout: expect.stringContaining('has ended') as string,
  })
  expect((await runCommand(dataDir, 'doctor')).stdout).toMatch(/backup-stream +failure .* has ended/)
  await done(dataDir, 'backup', 'stream', '--forget')
  expect((await runCommand(dataDir, 'backup', 'stream', '--status')).code).toBe(5)
}, 120_000)

test('files of a moment are listed, printed, extracted and brought back, and a moment is proven by a drill', async () => {
  const place = await installation()
  const { dataDir, to } = place
  const server = await startServe(dataDir)
  await startStream(dataDir, to)
  const ada = await clientOf(dataDir, server.url, 'ada')
  const [small, large] = [bytesOf(500, 1), bytesOf(CONTENT, 2)]
  await ada.upload('/small.bin', small)
  await ada.upload('/large.bin', large)
  await settled(dataDir)
  const before = new Date().toISOString()
  await ada.upload('/small.bin', bytesOf(700, 3))
  await ada.remove('/large.bin')
  await settled(dataDir)
  const of = ['--from', to, '--user', 'ada']
  const listed = async (moment: string) =>
    (JSON.parse(await done(dataDir, 'backup', 'ls', moment, ...of, '--json')) as { path: string; size: number }[])
      .filter(({ path }) => path.endsWith('.bin'))
      .map(({ path, size }) => `${path} ${size}`)
      .sort()
  expect(await listed(before)).toEqual([`/large.bin ${CONTENT}`, '/small.bin 500'])
  expect(await listed('stream')).toEqual(['/small.bin 700'])
  const target = join(place.folder, 'extracted')
  await done(dataDir, 'backup', 'extract', before, ...of, '--to', target)
  expect(Buffer.compare(await readFile(join(target, 'large.bin')), large)).toBe(0)
  expect(Buffer.compare(await readFile(join(target, 'small.bin')), small)).toBe(0)
  expect(await done(dataDir, 'backup', 'show', before, '--from', to)).toContain('2 with')
  expect(await done(dataDir, 'backup', 'drill', before, '--from', to)).toMatch(/^Proven: .* 2 contents compared/)
  await done(dataDir, 'rewind', '--user', 'ada', '--to', before, '--from', to, '--apply')
  expect(Buffer.compare(await ada.download('/large.bin'), large)).toBe(0)
  expect(Buffer.compare(await ada.download('/small.bin'), small)).toBe(0)
  expect(await runCommand(dataDir, 'rewind', '--user', 'ada', '--to', '2999-01-01', '--from', to)).toMatchObject({
    code: 5,
    stderr: expect.stringContaining('has nothing between') as string,
  })
  const token = (await done(dataDir, 'token', 'mint', '--user', 'ada')).trim()
  const metrics = await fetch(`${server.url}/metrics`, { headers: { authorization: `Bearer ${token}` } })
  expect(await metrics.text()).toMatch(/^svc_backup_stream_lag_seconds \d/m)
  await server.end()
}, 120_000)

test('server, stream, backups, VACUUM and checkpoints change nothing about what is restored', async () => {
  const place = await installation()
  const { dataDir, to } = place
  let stream = await startStream(dataDir, to)
  let server = await startServe(dataDir)
  const ada = await clientOf(dataDir, server.url, 'ada')
  for (let file = 0; file < 120; file += 1) await ada.upload(`/${file}.bin`, bytesOf(60_000, file + 1))
  await done(dataDir, 'backup', 'create', '--to', to, '--prune')
  for (let file = 0; file < 60; file += 1) await ada.remove(`/${file}.bin`)
  await server.end()
  await done(dataDir, 'storage', 'gc', '--vacuum').catch(() => undefined)
  server = await startServe(dataDir)
  await addUser(dataDir, 'bob')
  await stream.end('SIGKILL')
  stream = await startStream(dataDir, to)
  await addUser(dataDir, 'eve')
  await settled(dataDir)
  await done(dataDir, 'backup', 'prune', '--from', to, '--yes')
  const { target, code } = await restored(place, 'stream')
  expect(code).toBe(0)
  expect(await usersOf(target)).toEqual(['ada', 'bob', 'eve'])
  expect([...filesIn(target)].sort()).toEqual([...filesIn(dataDir)].sort())
  await done(target, 'storage', 'check')
  await stream.end()
  await server.end()
  expect(await done(dataDir, 'backup', 'verify', '--from', to)).toContain('all intact')
}, 120_000)

test('a folder has one stream, and a wrong passphrase or another server is refused', async () => {
  const place = await installation()
  const { folder, dataDir, to } = place
  const [right, wrong] = [join(folder, 'right'), join(folder, 'wrong')]
  await writeFile(right, 'correct horse battery')
  await writeFile(wrong, 'incorrect horse battery')
  await startStream(dataDir, to, '--encrypt', '--passphrase-file', right)
  expect(await runCommand(dataDir, 'backup', 'stream', '--to', to)).toMatchObject({
    code: 6,
    stderr: expect.stringContaining('svc backup stream, process') as string,
  })
  const other = join(folder, 'other')
  await done(other, 'user', 'add', 'ada', '--role', 'admin', '--generate')
  expect((await runCommand(other, 'backup', 'stream', '--to', to)).code).toBe(8)
  const elsewhere = { ...place, dataDir: other }
  expect(await restored(elsewhere, 'stream', '--passphrase-file', wrong)).toMatchObject({
    code: 4,
    stderr: expect.stringMatching(/passphrase/) as string,
  })
  expect(await restored(elsewhere, 'stream', '--passphrase-file', right)).toMatchObject({ code: 0 })
  expect((await runCommand(dataDir, 'backup', 'stream', '--to', join(folder, 'a.tar'))).code).toBe(2)
}, 120_000)

/** The first file of a stream. */
async function firstFileOf(to: string): Promise<string> {
  const [name] = (await readdir(join(to, 'stream'))).filter((each) => each !== 'locks').sort()
  return join(to, 'stream', name!, '000001.log')
}

test('damaged, cut, exchanged and foreign records end at the last good moment', async () => {
  const place = await installation()
  const { dataDir, to } = place
  const stream = await startStream(dataDir, to)
  const file = await firstFileOf(to)
  await addUser(dataDir, 'bob')
  await settled(dataDir)
  const good = (await stat(file)).size
  await addUser(dataDir, 'eve')
  await settled(dataDir)
  await stream.end()
  const whole = await readFile(file)

  // Cut off in the middle of a record, as by a kill.
  await writeFile(file, whole.subarray(0, good + 50))
  const cut = await restored(place, 'stream')
  expect(cut.code).toBe(0)
  expect(await usersOf(cut.target)).toEqual(['ada', 'bob'])

  // Changed, in its lengths, at its head and in its pages.
  for (const offset of [good, good + RECORD_HEADER + 20, good + RECORD_HEADER + whole.readUInt32BE(good) + 20]) {
    await writeFile(file, whole)
    const handle = await open(file, 'r+')
    await handle.write(Buffer.from([whole[offset]! ^ 1]), 0, 1, offset)
    await handle.close()
    const changed = await restored(place, 'stream')
    expect(changed).toMatchObject({ code: 3, document: { shortfall: expect.stringContaining(file) as string } })
    expect(await usersOf(changed.target)).toEqual(['ada', 'bob'])
    expect(await runCommand(dataDir, 'backup', 'verify', '--from', to)).toMatchObject({
      code: 1,
      stdout: expect.stringContaining('The stream is damaged after') as string,
    })
  }

  // A file of the same folder under another number.
  await writeFile(file, whole)
  await cp(file, join(file, '..', '000002.log'))
  expect(await restored(place, 'stream')).toMatchObject({ code: 3 })
  await rm(join(file, '..', '000002.log'))
  expect(await restored(place, 'stream')).toMatchObject({ code: 0 })

  // A chapter of another stream.
  const again = await startStream(dataDir, to)
  await again.end()
  const [first, second] = (await readdir(join(to, 'stream'))).filter((each) => each !== 'locks').sort()
  await cp(join(to, 'stream', first!, '000001.log'), join(to, 'stream', second!, '000001.log'))
  const foreign = await restored(place, 'stream')
  expect(foreign).toMatchObject({ code: 3, document: { shortfall: expect.stringContaining(second!) as string } })
  expect(await usersOf(foreign.target)).toEqual(['ada', 'bob', 'eve'])

  // The copy of the database that the last chapter begins with.
  const third = await startStream(dataDir, to)
  await third.end()
  const last = (await readdir(join(to, 'stream')))
    .filter((each) => each !== 'locks')
    .sort()
    .at(-1)!
  await writeFile(join(to, 'stream', last, 'base.json'), '{}')
  expect(await restored(place, 'stream')).toMatchObject({
    code: 3,
    document: { shortfall: expect.stringContaining(last) as string },
  })
}, 180_000)

test('a target that is away or full does not stop the server, and catches up', async (context) => {
  const place = await installation()
  const { dataDir, to } = place
  const stream = await startStream(dataDir, to)
  await rename(to, `${to}-away`)
  await addUser(dataDir, 'bob')
  await stream.said('The changes follow when it can be written')
  expect(await runCommand(dataDir, 'backup', 'stream', '--status')).toMatchObject({
    code: 3,
    stdout: expect.stringContaining('are gone: is the disk mounted?') as string,
  })
  await rename(`${to}-away`, to)
  await stream.said('is written again')
  await settled(dataDir)
  const { target } = await restored(place, 'stream')
  expect(await usersOf(target)).toEqual(['ada', 'bob'])
  await stream.end()

  const disk = await smallDisk(4 << 20)
  if ('reason' in disk) return context.skip(disk.reason)
  const small = { ...place, to: join(disk.folder, 'backups') }
  const full = await startStream(dataDir, small.to)
  const server = await startServe(dataDir)
  const ada = await clientOf(dataDir, server.url, 'ada')
  const makeRoom = await fill(disk.folder)
  await ada.upload('/in-rows.bin', bytesOf(60_000, 1))
  await full.said('is full')
  await ada.upload('/in-store.bin', bytesOf(CONTENT, 2))
  await addUser(dataDir, 'dan')
  await makeRoom()
  await full.said('is written again')
  await settled(dataDir)
  const after = await restored(small, 'stream')
  expect([after.code, after.stderr]).toEqual([0, ''])
  expect(await usersOf(after.target)).toEqual(['ada', 'bob', 'dan'])
  expect(filesIn(after.target)).toEqual(filesIn(dataDir))
  await done(after.target, 'storage', 'check')
  await full.end()
  await server.end()
}, 120_000)
