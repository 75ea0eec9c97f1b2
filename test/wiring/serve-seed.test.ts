import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { serve, type RunningServer, type ServeOptions } from '../../src/wiring/server.ts'
import { request } from '../support/request.ts'
import { folderOfTest } from '../support/server.ts'

const SEED = `users:
  - {username: ada, role: admin, password: analytical engine, token: true}
  - {username: bob, generate: true, token: true, files: [{path: /hello.txt, text: hello}]}
  - {username: carol, generate: true}
`

interface Ready {
  url: string
  pid: number
  version: string
  tokens?: Record<string, string>
  passwords?: Record<string, string>
}

async function start(options: ServeOptions): Promise<RunningServer> {
  const server = await serve({ flags: { port: '0' }, env: {}, log: false, ...options })
  let closed: Promise<void> | undefined
  const close = () => (closed ??= server.close())
  onTestFinished(close)
  return { ...server, close }
}

const ephemeralFolders = () => readdirSync(tmpdir()).filter((name) => /^svc-[A-Za-z0-9]{6}$/.test(name))

test('the ready file has tokens and passwords that work, for its owner only', async () => {
  const folder = await folderOfTest()
  const [seed, readyFile] = [join(folder, 'ci.yaml'), join(folder, 'ready.json')]
  writeFileSync(seed, SEED)
  await start({ ephemeral: true, seed: { file: seed }, readyFile })
  expect(statSync(readyFile).mode & 0o777).toBe(0o600)
  const ready = JSON.parse(readFileSync(readyFile, 'utf8')) as Ready
  expect(Object.keys(ready)).toEqual(['url', 'pid', 'version', 'tokens', 'passwords'])
  expect(Object.keys(ready.tokens!)).toEqual(['ada', 'bob'])
  expect(Object.keys(ready.passwords!).sort()).toEqual(['bob', 'carol'])
  const { status, bytes } = await request(ready.url, '/api/sync/files.php', {
    query: { action: 'download', path: '/hello.txt' },
    token: ready.tokens!['bob']!,
  })
  expect([status, bytes.toString()]).toEqual([200, 'hello'])
})

test('a second start changes nothing and makes new tokens, which end after a day', async () => {
  const folder = await folderOfTest()
  const [seed, readyFile, dataDir] = [join(folder, 'ci.yaml'), join(folder, 'ready.json'), join(folder, 'data')]
  writeFileSync(seed, SEED)
  const first = await start({ dataDir, seed: { file: seed }, readyFile })
  const before = (JSON.parse(readFileSync(readyFile, 'utf8')) as Ready).tokens!
  await first.close()
  const second = await start({ dataDir, seed: { file: seed }, readyFile })
  expect(second.seeded).toMatchObject({ items: [], unchanged: 4, passwords: {} })
  const after = (JSON.parse(readFileSync(readyFile, 'utf8')) as Ready).tokens!
  expect(after['ada']).not.toBe(before['ada'])
  const { accounts } = second.local.domain
  const devices = await accounts.devices((await accounts.byName('ada')).id)
  expect(devices).toHaveLength(2)
  for (const { expires_at, created_at } of devices as { expires_at: number; created_at: number }[])
    expect(expires_at - created_at).toBe(86_400_000)
})

test('a start that fails after the seed has handed over the passwords, and made no tokens', async () => {
  const folder = await folderOfTest()
  const [seed, readyFile, dataDir] = [join(folder, 'ci.yaml'), join(folder, 'ready.json'), join(folder, 'data')]
  writeFileSync(seed, SEED)
  const { port } = new URL((await start({ ephemeral: true })).url)
  const passwords = new Map<string, string>()
  const onPassword = (username: string, password: string) => void passwords.set(username, password)
  await expect(
    serve({ dataDir, flags: { port }, env: {}, log: false, seed: { file: seed }, readyFile, onPassword }),
  ).rejects.toThrow('is taken by another program')
  expect([...passwords.keys()].sort()).toEqual(['bob', 'carol'])
  const { accounts } = (await start({ dataDir })).local.domain
  expect(await accounts.devices((await accounts.byName('bob')).id)).toEqual([])
  const device = { device_id: 'laptop-0001', device_name: 'Laptop', ip: '192.0.2.1' }
  const password = passwords.get('bob')!
  expect(await accounts.login({ username: 'bob', password, ...device })).toHaveProperty('token')
})

test('tokens of twenty starts stay', async () => {
  const folder = await folderOfTest()
  const [seed, readyFile, dataDir] = [join(folder, 'ci.yaml'), join(folder, 'ready.json'), join(folder, 'data')]
  writeFileSync(seed, SEED)
  const first = await start({ dataDir, seed: { file: seed }, readyFile })
  const { accounts } = first.local.domain
  const ada = await accounts.byName('ada')
  for (let count = 0; count < 20; count += 1) await accounts.mintToken(ada.id, { ttl: 60_000, name: 'Seed' })
  await first.close()
  const second = await start({ dataDir, seed: { file: seed }, readyFile })
  expect(await second.local.domain.accounts.devices(ada.id)).toHaveLength(20)
})

test('without a ready file no tokens are made', async () => {
  const folder = await folderOfTest()
  writeFileSync(join(folder, 'ci.yaml'), SEED)
  const server = await start({ ephemeral: true, seed: { file: join(folder, 'ci.yaml') } })
  expect(server.seeded!.tokens).toEqual({})
  expect(Object.keys(server.seeded!.passwords).sort()).toEqual(['bob', 'carol'])
  const { accounts } = server.local.domain
  expect(await accounts.devices((await accounts.byName('ada')).id)).toEqual([])
})

test('a seed that is not sound stops the start and leaves nothing behind', async () => {
  const folder = await folderOfTest()
  const [seed, readyFile] = [join(folder, 'ci.yaml'), join(folder, 'ready.json')]
  writeFileSync(seed, 'users: [{username: ada}]')
  const before = ephemeralFolders()
  await expect(serve({ ephemeral: true, env: {}, log: false, seed: { file: seed }, readyFile })).rejects.toMatchObject({
    exitCode: 2,
    message: expect.stringContaining(':1:9 users[0]: is a new account') as string,
  })
  expect(existsSync(readyFile)).toBe(false)
  expect(ephemeralFolders().filter((name) => !before.includes(name))).toEqual([])
})
