import { once } from 'node:events'
import { join } from 'node:path'
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { syncData } from '../../src/contract/sync-data.ts'
import { syncFiles } from '../../src/contract/sync-files.ts'
import { INLINE_MAX } from '../../src/storage/contents/contents.ts'
import { openSqlite } from '../../src/storage/engine/sqlite.ts'
import { clientOf, makeAccount, type Client } from '../support/account.ts'
import { startChild, type Child } from '../support/child.ts'
import { makeClock } from '../support/clock.ts'
import { bytesOf, sha256Of } from '../support/contents.ts'
import { folderOfTest } from '../support/server.ts'
import { readTrace, straceMissing, type SystemCall } from '../support/strace.ts'

// What is acknowledged has been handed to the disk before: seen from outside, in the system calls of a server of its own.

let missing: string | undefined
beforeAll(async () => {
  missing = await straceMissing()
})

const CALLS =
  'trace=read,recvfrom,write,writev,sendto,sendmsg,fsync,fdatasync,link,linkat,rename,renameat2,mkdir,utimensat'

/** A server behind strace, on a data directory that has been used before, and somebody who speaks to it. */
async function traced(
  options: (dataDir: string) => string[],
): Promise<{ child: Child; client: Client; token: string; dataDir: string; trace: string }> {
  const folder = await folderOfTest()
  const [dataDir, trace] = [join(folder, 'data'), join(folder, 'trace')]
  await (await startChild('open', dataDir)).end()
  const database = openSqlite(join(dataDir, 'svc.db'))
  const account = await makeAccount({ url: '', database, clock: makeClock(Date.now()) }, { role: 'admin' })
  await database.close()
  const child = await startChild('serve', dataDir, [
    'strace',
    '-f',
    '-y',
    '-s',
    '80',
    '-e',
    'signal=none',
    '-o',
    trace,
    ...options(dataDir),
  ])
  onTestFinished(() => child.kill())
  const { token } = account
  return { child, client: clientOf(child.ready, token), token, dataDir, trace }
}

const isSync = ({ name, result }: SystemCall) => (name === 'fsync' || name === 'fdatasync') && result === '0'
const on = (pattern: RegExp) => (call: SystemCall) => isSync(call) && pattern.test(call.arguments)
const isAnswer = ({ name, arguments: sent }: SystemCall) =>
  /^(write|writev|sendto|sendmsg)$/.test(name) && sent.includes('HTTP/1.1 200')
const isReceived = ({ name, arguments: from, result }: SystemCall) =>
  /^(read|recvfrom)$/.test(name) && /<(socket|TCP)/.test(from) && Number(result) > 0

/** The calls from after the last answer up to each answer, in turn. */
function byAnswer(calls: SystemCall[]): { calls: SystemCall[]; answer: SystemCall }[] {
  const parts: { calls: SystemCall[]; answer: SystemCall }[] = []
  let part: SystemCall[] = []
  for (const call of calls) {
    if (isAnswer(call)) {
      parts.push({ calls: part, answer: call })
      part = []
    } else part.push(call)
  }
  return parts
}

/** Each step is over before the next begins. */
function expectOrder(steps: [what: string, call: SystemCall | undefined][]): void {
  expect(steps.map(([what, call]) => [what, call !== undefined])).toEqual(steps.map(([what]) => [what, true]))
  const overlaps = steps.slice(1).filter(([, call], index) => steps[index]![1]!.ended > call!.began)
  expect(overlaps.map(([what]) => what)).toEqual([])
}

const WAL = /svc\.db-wal>/

test('an answer comes after everything it promises is on the disk', async (context) => {
  if (missing) return context.skip(missing)
  const { child, client, dataDir, trace } = await traced(() => ['-e', CALLS])
  const content = bytesOf(INLINE_MAX + 300_000)
  const sha256 = sha256Of(content)
  await client.put('/new.bin', content)
  await client.put('/again.bin', content)
  await client.put('/small.txt', 'small')
  await client.push({ table: 'svc_notes', operation: 'INSERT', data: { title: 'Tea' } })
  await client.ask(syncFiles.actions.move, { from: '/small.txt', to: '/moved.txt' })
  await client.ask(syncFiles.actions.delete, { path: '/moved.txt' })
  expect(await child.end()).toBe(0)

  const all = await readTrace(trace)
  const [fresh, again, ...others] = byAnswer(all)
  const blobs = join(dataDir, 'blobs')
  const [outer, inner] = [join(blobs, sha256.slice(0, 2)), join(blobs, sha256.slice(0, 2), sha256.slice(2, 4))]
  const folder = (path: string) => on(new RegExp(`<${path}>`))
  const temporary = on(/blobs\/tmp\/[0-9a-f]+>/)

  // A new content: its bytes, its name, its folders, its row, and only then the word.
  const last = { received: fresh!.calls.findLast(isReceived), row: fresh!.calls.findLast(on(WAL)) }
  // The lock of the server is linked too.
  const isLink = ({ name, arguments: paths, result }: SystemCall) =>
    name.startsWith('link') && result === '0' && paths.includes(`${blobs}/`)
  const linked = fresh!.calls.find(isLink)
  expect(linked?.arguments).toContain(join(inner, sha256))
  expectOrder([
    ['the last bytes arrive', last.received],
    ['the content is flushed', fresh!.calls.findLast(temporary)],
    ['it gets its name', linked],
    ['the name is flushed', fresh!.calls.findLast(folder(inner))],
    ['the row is flushed', last.row],
    ['the answer', fresh!.answer],
  ])
  for (const made of [outer, blobs])
    expectOrder([
      [`${made} is flushed`, fresh!.calls.find(folder(made))],
      ['the row is flushed', last.row],
    ])

  // A content that is there already: whoever put it may not have come to flushing its name.
  expectOrder([
    ['the last bytes arrive', again!.calls.findLast(isReceived)],
    [
      'it is made young',
      again!.calls.findLast(({ name, arguments: path }) => name === 'utimensat' && path.includes(sha256)),
    ],
    ['the name is flushed', again!.calls.findLast(folder(inner))],
    ['the row is flushed', again!.calls.findLast(on(WAL))],
    ['the answer', again!.answer],
  ])

  // Everything else is rows.
  expect(others).toHaveLength(4)
  for (const { calls, answer } of others) {
    expectOrder([
      ['the last bytes arrive', calls.findLast(isReceived)],
      ['the rows are flushed', calls.findLast(on(WAL))],
      ['the answer', answer],
    ])
  }
})

describe('when the disk fails to take something', () => {
  const failing = (path: (dataDir: string) => string) => (dataDir: string) => [
    '-P',
    path(dataDir),
    '-e',
    'inject=fsync,fdatasync:error=EIO',
    '-e',
    'trace=fsync,fdatasync',
  ]

  test('an upload whose name cannot be flushed is not acknowledged and not stored', async (context) => {
    if (missing) return context.skip(missing)
    const content = bytesOf(INLINE_MAX + 1)
    const sha256 = sha256Of(content)
    const { client } = await traced(
      failing((dataDir) => join(dataDir, 'blobs', sha256.slice(0, 2), sha256.slice(2, 4))),
    )
    for (let attempt = 0; attempt < 2; attempt += 1) {
      const reply = await client.upload('/a.bin', content)
      expect([reply.status, reply.json]).toMatchObject([500, { code: 'internal', error: 'Interner Fehler' }])
    }
    expect((await client.manifest()).files).toEqual([])
    // Nothing else suffers.
    await client.put('/b.bin', bytesOf(INLINE_MAX + 1, 2))
    await client.put('/c.txt', 'small')
  })

  test('a server whose rows cannot be flushed acknowledges nothing more, and ends', async (context) => {
    if (missing) return context.skip(missing)
    const { child, client, token, dataDir } = await traced((folder) => [
      '-P',
      join(folder, 'svc.db-wal'),
      '-e',
      'inject=fdatasync:error=EIO:when=12+',
      '-e',
      'trace=fdatasync',
    ])
    const over = once(child.process, 'exit')
    const acknowledged: string[] = []
    for (let number = 0; number < 200; number += 1) {
      const operations = [{ table: 'svc_notes', operation: 'INSERT', data: { title: `note ${number}` } }]
      const reply = await client.call(syncData.actions.push, { operations }).catch(() => undefined)
      if (reply?.status !== 200) break
      acknowledged.push(`note ${number}`)
    }
    // strace counts the calls of each thread.
    expect(acknowledged.length).toBeLessThan(200)
    expect(await over).toEqual([1, null])
    const again = await startChild('serve', dataDir)
    onTestFinished(() => again.kill())
    const { data } = await clientOf(again.ready, token).everything()
    const titles = data['svc_notes']!.map(({ title }) => title)
    expect(titles).toEqual(expect.arrayContaining(acknowledged))
  })
})
