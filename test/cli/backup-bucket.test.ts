import { once } from 'node:events'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { ended, runCommandWith, startCommandWith } from '../support/command.ts'
import { bytesOf } from '../support/contents.ts'
import { clientOf, startServe } from '../support/outside.ts'
import { s3Environment, s3OfFile } from '../support/s3.ts'
import { lineOfTest, type Fate } from '../support/s3-line.ts'
import { folderOfTest } from '../support/server.ts'

// Backups and streams in an S3 bucket, by the built command.

const s3 = s3OfFile()
/** Sent in parts. */
const LARGE = 17 << 20

async function scene(prefix = '') {
  const folder = await folderOfTest()
  const dataDir = join(folder, 'data')
  const bucket = await s3.bucket()
  const to = bucket.address({ prefix })
  const env = { HOME: dataDir, SVC_DATA_DIR: dataDir, ...s3Environment }
  const svc = (...args: string[]) => runCommandWith(env, ...args)
  const ok = async (...args: string[]): Promise<string> => {
    const { code, stdout, stderr } = await svc(...args)
    if (code !== 0) throw new Error(`svc ${args.join(' ')} ended with ${code}: ${stderr}`)
    return stdout.trim()
  }
  await ok('user', 'add', 'ada', '--role', 'admin', '--generate')
  return { folder, dataDir, bucket, to, env, svc, ok }
}

const upload = async (dataDir: string, files: Record<string, Buffer>): Promise<void> => {
  const server = await startServe(dataDir)
  const client = await clientOf(dataDir, server.url, 'ada')
  for (const [path, bytes] of Object.entries(files)) await client.upload(path, bytes)
  await server.end()
}

test('a bucket holds backups: created, listed, verified, tried, restored and removed', async () => {
  const { folder, dataDir, bucket, to, svc, ok } = await scene('cloud')
  await upload(dataDir, { '/small.txt': bytesOf(100), '/large.bin': bytesOf(LARGE), '/other.bin': bytesOf(70_000, 7) })
  const secret = join(folder, 'secret.txt')
  await writeFile(secret, 'correct horse battery staple\n')
  await ok('backup', 'create', '--to', to, '--encrypt', '--passphrase-file', secret)
  const first = JSON.parse(await ok('backup', 'list', '--from', to, '--json')) as { id: string }[]
  expect(first).toHaveLength(1)
  const again = JSON.parse(await ok('backup', 'create', '--to', to, '--json')) as { unchanged: boolean; place: string }
  expect(again).toMatchObject({ unchanged: true, place: to, encrypted: true })
  expect(await ok('backup', 'verify', '--from', to)).toContain('all intact')
  expect(await ok('backup', 'drill', '--from', to, '--passphrase-file', secret)).toContain('Proven')
  const target = join(folder, 'restored')
  const away = { HOME: folder, ...s3Environment }
  expect(
    await runCommandWith(
      away,
      'backup',
      'restore',
      'latest',
      '--from',
      to,
      '--data-dir',
      target,
      '--passphrase-file',
      secret,
    ),
  ).toMatchObject({ code: 0 })
  await ok('storage', 'check', '--data-dir', target)
  const ofAda = ['--from', to, '--user', 'ada']
  expect(await ok('backup', 'show', 'latest', '--from', to)).toContain(`Place     ${to}`)
  expect(await ok('backup', 'ls', 'latest', ...ofAda)).toMatch(/\/small\.txt$/m)
  expect(Buffer.from(await ok('backup', 'cat', 'latest', ...ofAda, '--path', '/small.txt'))).toEqual(
    Buffer.from(bytesOf(100).toString()),
  )
  expect(await svc('backup', 'cat', 'latest', ...ofAda, '--path', '/none')).toMatchObject({ code: 5, stdout: '' })
  await ok('backup', 'extract', 'latest', ...ofAda, '--path', '/', '--to', join(folder, 'out'))
  expect(await readFile(join(folder, 'out', 'other.bin'))).toEqual(bytesOf(70_000, 7))

  // Damaged objects are named, and stored again as far as the new backup needs them.
  const objects = (await bucket.objects()).filter((name) => name.includes('objects/'))
  for (const name of objects) await bucket.write(name, 'damaged')
  expect((await svc('backup', 'verify', '--from', to)).code).toBe(1)
  expect((await svc('backup', 'create', '--to', to, '--recheck')).code).toBe(3)

  await ok(
    'backup',
    'prune',
    '--from',
    to,
    '--keep-last',
    '1',
    '--keep-daily',
    '0',
    '--keep-weekly',
    '0',
    '--keep-monthly',
    '0',
    '--yes',
  )
  expect(JSON.parse(await ok('backup', 'list', '--from', to, '--json'))).toHaveLength(1)
  await ok('backup', 'verify', '--from', to)
  await ok('backup', 'schedule', '30 3 * * *', '--to', to)
  expect(await ok('config', 'get', 'backup.to')).toBe(to)
  expect((await svc('doctor')).stdout).toMatch(/backup-age +ok/)
}, 300_000)

test('a key that may not remove anything makes backups and streams, and prune says what it needs', async () => {
  const { bucket, to, svc, ok } = await scene()
  await s3.deny('removal')
  onTestFinished(() => s3.deny('nothing'))
  await ok('backup', 'create', '--to', to)
  await ok('user', 'add', 'bob', '--generate')
  const pruning = ['--keep-last', '1', '--keep-daily', '0', '--keep-weekly', '0', '--keep-monthly', '0']
  expect(await svc('backup', 'create', '--to', to, '--prune')).toMatchObject({ code: 0 })
  expect(await svc('backup', 'prune', '--from', to, ...pruning, '--yes')).toMatchObject({
    code: 4,
    stdout: '',
    stderr: expect.stringContaining('The key may not remove anything from s3://') as string,
  })
  expect(JSON.parse(await ok('backup', 'list', '--from', to, '--json'))).toHaveLength(2)
  await ok('backup', 'verify', '--from', to)
  // Locks that could not be removed are no locks, and few.
  expect((await bucket.objects()).filter((name) => name.startsWith('locks/')).length).toBeLessThan(10)
  await s3.deny('nothing')
  await ok('backup', 'prune', '--from', to, ...pruning, '--yes')
})

test('a stream to a bucket can be restored to any moment, outlasts its absence, and refuses a second one', async () => {
  const { folder, bucket, to, env, svc, ok } = await scene()
  await s3.deny('removal')
  onTestFinished(() => s3.deny('nothing'))
  const child = startCommandWith(env, 'backup', 'stream', '--to', to)
  const over = once(child, 'exit')
  onTestFinished(async () => {
    child.kill('SIGKILL')
    await over
  })
  child.stdout!.resume()
  child.stderr!.resume()
  const settled = async (): Promise<void> => {
    const now = Date.now()
    await expect
      .poll(
        async () =>
          (JSON.parse((await svc('backup', 'stream', '--status', '--json')).stdout || '{}') as { at?: number }).at ?? 0,
      )
      .toBeGreaterThan(now)
  }
  await settled()
  await ok('user', 'add', 'bob', '--generate')
  await settled()
  const between = new Date().toISOString()
  await ok('user', 'add', 'eve', '--generate')
  await settled()
  const usersAt = async (moment: string): Promise<number> => {
    const target = join(folder, `restored-${moment.length}-${Date.now()}`)
    await ok('backup', 'restore', moment, '--from', to, '--data-dir', target)
    return (JSON.parse(await ok('user', 'list', '--data-dir', target, '--json')) as unknown[]).length
  }
  expect([await usersAt('stream'), await usersAt(between)]).toEqual([3, 2])
  expect(await svc('backup', 'stream', '--to', to)).toMatchObject({
    code: 6,
    stderr: expect.stringContaining('The backups are in use: svc backup stream') as string,
  })
  const restore = await bucket.hide()
  await ok('user', 'add', 'tim', '--generate')
  await expect.poll(async () => (await svc('backup', 'stream', '--status')).stdout).toContain('There is no bucket')
  await restore()
  await settled()
  expect(await usersAt('stream')).toBe(4)
  child.kill('SIGKILL')
  await over
  expect(await usersAt('stream')).toBe(4)
  expect(await ok('backup', 'verify', '--from', to)).toContain('all intact')
})

test('a bucket that cannot be used says why', async () => {
  const { to, env, svc } = await scene()
  const create = (address: string) => svc('backup', 'create', '--to', address)
  const bad: [string, number, string][] = [
    ['s3://nowhere/?endpoint=http://127.0.0.1:2', 7, 'refuses the connection'],
    [to.replace(/s3:\/\/[^/]+/, 's3://gone-bucket'), 1, 'There is no bucket gone-bucket'],
    ['s3://X', 2, 'is no name of a bucket'],
    ['s3://bucket?key=1', 2, 'holds no keys'],
    ['s3://bucket/a#b', 2, 'address of an S3 store'],
  ]
  for (const [address, code, text] of bad)
    expect([address, await create(address)]).toMatchObject([
      address,
      { code, stdout: '', stderr: expect.stringContaining(text) as string },
    ])
  const { AWS_ACCESS_KEY_ID: _, ...keyless } = env
  expect(await runCommandWith(keyless, 'backup', 'create', '--to', to)).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('set AWS_ACCESS_KEY_ID') as string,
  })
  expect(await runCommandWith({ ...env, AWS_ACCESS_KEY_ID: 'k…' }, 'backup', 'create', '--to', to)).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('characters that no key has') as string,
  })
  // The key of backups is never completed with parts of the other one.
  const half = { ...env, BACKUP_AWS_ACCESS_KEY_ID: 'WRONG', AWS_SESSION_TOKEN: 'of-the-other-key' }
  expect(await runCommandWith(half, 'backup', 'create', '--to', to)).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('set BACKUP_AWS_ACCESS_KEY_ID and BACKUP_AWS_SECRET_ACCESS_KEY') as string,
  })
  const wrong = { ...half, BACKUP_AWS_SECRET_ACCESS_KEY: 'wrong' }
  expect(await runCommandWith(wrong, 'backup', 'create', '--to', to)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('correct BACKUP_AWS_ACCESS_KEY_ID') as string,
  })
  expect(await svc('backup', 'list', '--from', to)).toMatchObject({
    code: 5,
    stderr: expect.stringContaining('Is the address right?') as string,
  })
  await s3.deny('all')
  onTestFinished(() => s3.deny('nothing'))
  expect(await create(to)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining(
      'denies access: give the key the rights to list the bucket and to read and write its objects.',
    ) as string,
  })
})

test('a bucket that fails for a while is asked again, and one that goes on says what to do', async () => {
  const { bucket, svc, ok } = await scene()
  const line = await lineOfTest(bucket.endpoint)
  const to = bucket.address({ prefix: 'cloud', endpoint: line.url })
  let failures = 0
  let headers = 0
  line.decide(({ method, url }) => {
    // The store did what the lost response would have said, and refuses the repetition.
    if (method === 'PUT' && url.includes('svc-backup.json')) {
      headers += 1
      return headers === 1 ? { loseAnswer: true } : { answer: { status: 412, code: 'PreconditionFailed' } }
    }
    failures += 1
    if (failures % 4 === 1) return { answer: { status: 503, code: 'SlowDown' } }
    if (failures % 4 === 2 && method === 'PUT') return { loseAnswer: true }
    return failures % 4 === 3 ? { cutAnswerAfter: 10 } : undefined
  })
  await ok('backup', 'create', '--to', to)
  expect(await ok('backup', 'verify', '--from', to)).toContain('all intact')
  const lasting: [Fate, number, string][] = [
    [{ answer: { status: 503, code: 'SlowDown' } }, 7, 'Try again in a moment.'],
    [{ cutAnswerAfter: 0 }, 7, 'Try again in a moment.'],
    [{ answer: { status: 403, code: 'RequestTimeTooSkewed' } }, 1, 'set the clock of this machine'],
    [{ answer: { status: 507 } }, 1, 'is full'],
  ]
  for (const [fate, code, text] of lasting) {
    line.decide(() => fate)
    expect(await svc('backup', 'create', '--to', to)).toMatchObject({
      code,
      stdout: '',
      stderr: expect.stringContaining(text) as string,
    })
  }
})

test('a stream to a bucket that is silent ends when it is told to, and says what may be missing', async () => {
  const { bucket, env } = await scene()
  const line = await lineOfTest(bucket.endpoint)
  const child = startCommandWith(env, 'backup', 'stream', '--to', bucket.address({ endpoint: line.url }))
  const end = ended(child)
  onTestFinished(() => void child.kill('SIGKILL'))
  await new Promise<void>((resolve) => child.stdout!.once('data', () => resolve()))
  const asked = new Promise<void>((resolve) =>
    line.decide(() => {
      resolve()
      return { silence: true }
    }),
  )
  await asked
  child.kill('SIGTERM')
  expect(await end).toMatchObject({
    code: 7,
    stderr: expect.stringContaining('its last changes may be missing') as string,
  })
})
