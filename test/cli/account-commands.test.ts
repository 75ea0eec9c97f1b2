import { scryptSync } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { generateSync } from 'otplib'
import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { systemClock } from '../../src/base/clock.ts'
import { openBrowser, PASSWORD } from '../support/browser.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { temporaryFolder } from '../support/folder.ts'
import { runWarm } from '../support/warm-command.ts'

// What scripts cannot say, because it takes a browser, or a code that was printed before. The server runs all the while, and
// hashes like the built command.

let server: TestServer
let place: string
let people = 0
beforeAll(async () => {
  place = await temporaryFolder()
  const dataDir = join(place, 'data')
  // Commands go by the clock of the machine.
  server = await startServer({ dataDir, clock: { now: systemClock.now, pass: () => undefined } })
  return async () => {
    await server.close()
    await rm(place, { recursive: true })
  }
})

let name: string
let id: number
beforeEach(async () => {
  name = `person-${++people}`
  id = (await server.local.domain.accounts.create({ username: name, password: PASSWORD })).id
})

/** Runs a command on the data directory, or as a client with `env`. */
const svc = (args: string[], { stdin = '', env = {} }: { stdin?: string; env?: NodeJS.ProcessEnv } = {}) =>
  runWarm({
    words: args,
    cwd: place,
    env: { PATH: process.env['PATH'], HOME: place, TZ: 'UTC', SVC_DATA_DIR: join(place, 'data'), ...env },
    stdin,
  })

const jsonOf = async (...args: Parameters<typeof svc>) => {
  const { stdout, stderr, code } = await svc([...args[0], '--json'], args[1])
  if (code !== 0) throw new Error(stderr)
  return JSON.parse(stdout) as Record<string, unknown>
}

/** Turns the second factor on in the two steps that scripts take. */
async function enabled(): Promise<{ secret: string; backup_codes: string[] }> {
  const { secret } = (await jsonOf(['2fa', 'enable', name, '--begin'])) as { secret: string }
  const stdin = `${generateSync({ secret })}\n`
  const { backup_codes } = await jsonOf(['2fa', 'enable', name, '--code-stdin'], { stdin })
  return { secret, backup_codes: backup_codes as string[] }
}

/** What a login in a browser with a code comes to. */
async function enter(totp_code: string) {
  const browser = openBrowser(server)
  const begun = await browser.login(name)
  expect(begun.json['requires_2fa']).toBe(true)
  return (await browser.post('/login-2fa.php', { totp_code })).status
}

describe('a second factor set up by an administrator', () => {
  test('is in force at once, and its codes are good', async () => {
    const { secret, backup_codes } = await enabled()
    expect(backup_codes).toHaveLength(8)
    expect(await enter(generateSync({ secret }))).toBe(200)
    expect(await enter(backup_codes[0]!)).toBe(200)
    expect(await jsonOf(['2fa', 'status', name])).toMatchObject({ enabled: true, backup_codes_left: 7 })
    const again = await svc(['2fa', 'enable', name, '--begin'])
    expect([again.code, again.stdout]).toEqual([6, ''])
    expect(again.stderr).toBe('svc: Two-factor authentication is on already.\n')
  })

  test('is bypassed once by a code that is printed as it is typed', async () => {
    await enabled()
    const { stdout, stderr, code } = await svc(['2fa', 'bypass', name, '--ttl', '1h'])
    expect([code, stderr]).toEqual([0, ''])
    const [, printed] = /^ {4}([0-9A-Z]{5}-[0-9A-Z]{5})$/m.exec(stdout) ?? []
    expect(await enter(printed!)).toBe(200)
    expect(await enter(printed!)).toBe(401)
    const refused = await svc(['2fa', 'bypass', name, '--ttl', '25h'])
    expect([refused.code, refused.stderr]).toEqual([2, 'svc: A bypass code lasts from one second to 24 hours.\n'])
  })

  test('that wrong codes locked is said to be so beside the bypass code, until it is unlocked', async () => {
    await enabled()
    for (let time = 0; time < 5; time += 1) expect(await enter('ABCDEFGHJK')).toBe(401)
    const { stdout, stderr, code } = await svc(['2fa', 'bypass', name, '--json'])
    const bypass = (JSON.parse(stdout) as { code: string }).code
    expect([code, stderr]).toEqual([
      0,
      `warning: ${name} is locked after failed attempts. The code works only after svc user unlock ${name}.\n`,
    ])
    expect(await enter(bypass)).toBe(429)
    const listed = await svc(['user', 'list', '--locked', '--search', name])
    expect(listed.stdout).toMatch(/codes locked until 20\d\d-/)
    expect((await svc(['user', 'unlock', name])).stdout).toBe(`Unlocked ${name}.\n`)
    expect(await enter(bypass)).toBe(200)
  })

  test('gets new backup codes, each printed once and good for a login', async () => {
    const { backup_codes } = await enabled()
    const { stdout } = await svc(['2fa', 'codes', name])
    const printed = [...stdout.matchAll(/[0-9A-Z]{5}-[0-9A-Z]{5}/g)].map(([code]) => code)
    expect(printed).toHaveLength(8)
    expect(await enter(backup_codes[0]!)).toBe(401)
    expect(await enter(printed[7]!)).toBe(200)
  })

  test('costs as much as OWASP recommends to guess, like the password', async () => {
    await enabled()
    const code = (await svc(['2fa', 'bypass', name])).stdout.match(/[0-9A-Z]{5}-[0-9A-Z]{5}/)![0].replace('-', '')
    const { q } = server.database.read
    const { password_hash } = await q.selectFrom('users').selectAll().where('id', '=', id).executeTakeFirstOrThrow()
    expect(password_hash).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/)
    const factors = q.selectFrom('second_factors').selectAll().where('user_id', '=', id)
    const { code_salt } = await factors.executeTakeFirstOrThrow()
    const codes = q.selectFrom('bypass_codes').selectAll().where('user_id', '=', id)
    const { hash } = await codes.executeTakeFirstOrThrow()
    expect(hash).toBe(scryptSync(code, Buffer.from(code_salt!, 'hex'), 32, { N: 2 ** 14 }).toString('hex'))
  })

  test('goes with a reset, and so do the sessions', async () => {
    const { secret } = await enabled()
    const browser = openBrowser(server)
    await browser.login(name)
    await browser.post('/login-2fa.php', { totp_code: generateSync({ secret }) })
    expect((await browser.get('/api/session.php')).status).toBe(200)
    const { stdout } = await svc(['2fa', 'reset', name, '--yes'])
    expect(stdout).toBe(`${name} no longer has a second factor; 1 session ended.\n`)
    expect((await browser.get('/api/session.php')).status).toBe(401)
    expect((await openBrowser(server).login(name)).json['success']).toBe(true)
    expect((await svc(['2fa', 'reset', name, '--yes'])).stdout).toContain('nothing was changed')
  })
})

describe('sessions in browsers', () => {
  test('are listed with what the browser calls itself, made harmless for a terminal, and end together', async () => {
    const evil = openBrowser(server)
    await evil.post('/api/login.php', { username: name, password: PASSWORD }, { 'user-agent': 'Evil \u009b31m/1.0' })
    const plain = openBrowser(server)
    await plain.post('/api/login.php', { username: name, password: PASSWORD }, { 'user-agent': 'Mozilla/5.0' })
    const { stdout } = await svc(['user', 'sessions', name])
    const lines = stdout.trimEnd().split('\n')
    expect(lines[0]).toMatch(/^ID +SIGNED IN +LAST USED +ADDRESS +BROWSER$/)
    expect(lines[1]).toMatch(/127\.0\.0\.1 +Mozilla\/5\.0$/)
    expect(lines[2]).toMatch(/127\.0\.0\.1 +Evil \ufffd31m\/1\.0$/)
    expect(await svc(['user', 'sessions', name, '--end', '--yes'])).toMatchObject({
      code: 0,
      stdout: `Ended 2 sessions of ${name}.\n`,
    })
    for (const browser of [evil, plain]) expect((await browser.get('/api/session.php')).status).toBe(401)
    expect(await jsonOf(['user', 'show', name])).toMatchObject({ session_count: 0, device_count: 0 })
  })

  test('end with another password and when the account is disabled, and do not come back', async () => {
    const browser = openBrowser(server)
    await browser.login(name)
    const { stdout } = await svc(['user', 'passwd', name, '--password-stdin'], { stdin: 'difference engine\n' })
    expect(stdout).toBe(`Set the password of ${name}; 0 devices and 1 session ended.\n`)
    expect((await browser.get('/api/session.php')).status).toBe(401)
    await browser.login(name, 'difference engine')
    expect(await jsonOf(['user', 'disable', name])).toMatchObject({
      sessions_ended: 1,
      devices_ended: 0,
      state: 'disabled',
    })
    await svc(['user', 'enable', name])
    expect((await browser.get('/api/session.php')).status).toBe(401)
  })
})

test('another password ends devices, unless they are kept', async () => {
  const set = (...flags: string[]) =>
    jsonOf(['user', 'passwd', name, '--password-stdin', ...flags], { stdin: 'difference engine\n' })
  const minted = await svc(['token', 'mint', '--user', name, '--ttl', '5m'])
  const env = { SVC_URL: server.url, SVC_TOKEN: minted.stdout.trim() }
  expect(await set('--keep-devices')).toMatchObject({ devices_ended: 0 })
  expect(await jsonOf(['whoami'], { env })).toMatchObject({ user: { id } })
  expect(await set()).toMatchObject({ devices_ended: 1 })
  expect((await svc(['whoami'], { env })).code).toBe(4)
})

describe('a minted token', () => {
  test('is all that is printed, and signs a command in until it is revoked', async () => {
    const minted = await svc(['token', 'mint', '--user', name, '--ttl', '5m', '--name', 'nightly'])
    expect([minted.code, minted.stderr]).toEqual([0, ''])
    expect(minted.stdout).toMatch(/^[0-9a-f]{64}\n$/)
    const env = { SVC_URL: server.url, SVC_TOKEN: minted.stdout.trim() }
    expect(await jsonOf(['whoami'], { env })).toMatchObject({ user: { id } })
    expect((await svc(['files', 'mkdir', '/reports'], { env })).code).toBe(0)
    const listed = await svc(['device', 'list', name])
    expect(listed.stdout).toMatch(/nightly +20\d\d-\S+ \S+ +20\d\d-\S+ \S+ +20\d\d-\S+ \S+ +127\.0\.0\.1 +minted-/)
    expect((await svc(['device', 'revoke', name, '--all', '--yes'])).stdout).toBe(`Signed out 1 device of ${name}.\n`)
    expect((await svc(['files', 'mkdir', '/more'], { env })).code).toBe(4)
  })
})

test('a name with control characters is named harmlessly', async () => {
  for (const args of [
    ['user', 'show'],
    ['2fa', 'status'],
    ['2fa', 'bypass'],
    ['user', 'sessions'],
    ['token', 'mint', '--user'],
  ]) {
    const { code, stdout, stderr } = await svc([...args, 'a\u001b[2J\u202eb'])
    expect([code, stdout, stderr]).toEqual([5, '', 'svc: There is no user named "a\ufffd[2J\ufffdb".\n'])
  }
})
