import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import {
  changeCredentials,
  credentialsFile,
  findAccount,
  isProfileName,
  readCredentials,
  type Credentials,
  type Profile,
} from '../../../src/client/auth/credentials.ts'

const TOKEN = '0123456789abcdef'.repeat(4)
const ada: Profile = {
  url: 'https://cloud.example.org',
  username: 'ada',
  user_id: 1,
  token: TOKEN,
  device_id: 'device-0001',
  device_name: 'Laptop',
}

let env: NodeJS.ProcessEnv
let file: string
beforeEach(async () => {
  const home = await mkdtemp(join(tmpdir(), 'svc-credentials-'))
  onTestFinished(() => rm(home, { recursive: true }))
  env = { HOME: home, XDG_CONFIG_HOME: join(home, 'conf') }
  file = credentialsFile(env)
})

const store = (profiles: Record<string, Profile>, current = 'default') =>
  changeCredentials(env, (credentials) => Object.assign(credentials, { current, profiles }))

async function write(text: string, mode = 0o600): Promise<void> {
  await mkdir(dirname(file), { recursive: true })
  await writeFile(file, text)
  await chmod(file, mode)
}

describe('the file', () => {
  test('lies in the configuration folder, and both are the owner’s alone', async () => {
    await store({ default: ada })
    expect(file).toBe(join(env['XDG_CONFIG_HOME']!, 'svc/credentials.json'))
    expect((await stat(file)).mode & 0o777).toBe(0o600)
    expect((await stat(dirname(file))).mode & 0o777).toBe(0o700)
    expect(await readdir(dirname(file))).toEqual(['credentials.json'])
    expect(JSON.parse(await readFile(file, 'utf8'))).toEqual({ current: 'default', profiles: { default: ada } })
  })

  test('need not be there', async () => {
    expect(await readCredentials(env)).toEqual({ current: 'default', profiles: {} })
    await expect(readdir(env['XDG_CONFIG_HOME']!)).rejects.toMatchObject({ code: 'ENOENT' })
  })

  test.each([0o640, 0o604, 0o666])('is refused with mode %o, and the sentence says how to fix it', async (mode) => {
    await store({ default: ada })
    await chmod(file, mode)
    await expect(readCredentials(env)).rejects.toThrow(
      `Other users can read ${file} and the tokens in it: run chmod 600 ${file}`,
    )
    await expect(store({})).rejects.toMatchObject({ name: 'NotSignedIn', exitCode: 4 })
    expect(JSON.parse(await readFile(file, 'utf8')).profiles.default).toEqual(ada)
  })

  test.each([
    '',
    '{"current":"default","prof',
    'null',
    '[]',
    '{"current":"default"}',
    '{"current":1,"profiles":{}}',
    '{"current":"default","profiles":{"default":null}}',
    JSON.stringify({ current: 'default', profiles: { default: { ...ada, token: 'short' } } }),
    JSON.stringify({ current: 'default', profiles: { default: { ...ada, url: 'nowhere' } } }),
  ])('is refused when it is damaged (%s), and left as it is', async (text) => {
    await write(text)
    await expect(readCredentials(env)).rejects.toThrow(`${file} is damaged`)
    await expect(store({ default: ada })).rejects.toThrow(`${file} is damaged`)
    expect(await readFile(file, 'utf8')).toBe(text)
  })

  test('keeps what a later version may have added', async () => {
    await write(JSON.stringify({ current: 'default', profiles: { default: ada }, theme: 'dark' }))
    await changeCredentials(env, (credentials) => void (credentials.profiles['work'] = { ...ada, username: 'eve' }))
    const kept = JSON.parse(await readFile(file, 'utf8')) as Credentials & { theme: string }
    expect(kept.theme).toBe('dark')
    expect(Object.keys(kept.profiles)).toEqual(['default', 'work'])
  })
})

test('changes at the same time are all kept', async () => {
  const names = Array.from({ length: 8 }, (_, index) => `profile-${index}`)
  await Promise.all(names.map((name) => changeCredentials(env, ({ profiles }) => void (profiles[name] = ada))))
  expect(Object.keys((await readCredentials(env)).profiles).sort()).toEqual(names)
  expect(await readdir(dirname(file))).toEqual(['credentials.json'])
})

describe('the account to act for', () => {
  const account = { url: ada.url, username: 'ada', token: TOKEN, device_id: ada.device_id }

  test('is the current profile, or the one that is named', async () => {
    await store({ default: ada, work: { ...ada, url: 'https://work.example.org' } })
    expect(await findAccount({ env })).toEqual({ ...account, profile: 'default' })
    expect(await findAccount({ env, profile: 'work' })).toEqual({
      ...account,
      url: 'https://work.example.org',
      profile: 'work',
    })
  })

  test('is the one of the environment before all that is stored', async () => {
    await store({ default: ada })
    const other = 'f'.repeat(64)
    const found = await findAccount({ env: { ...env, SVC_URL: 'localhost:8420/', SVC_TOKEN: other } })
    expect(found).toEqual({ url: 'http://localhost:8420', username: '', token: other, profile: '' })
  })

  test('needs nothing stored when the environment names it, not even a sound file', async () => {
    await write('damaged')
    expect(await findAccount({ env: { ...env, SVC_URL: ada.url, SVC_TOKEN: TOKEN } })).toMatchObject({ url: ada.url })
  })

  test.each([
    [{}, undefined, 'Not signed in: run svc login URL'],
    [{}, 'work', 'There is no profile work: run svc login URL --profile work'],
    [{}, 'constructor', 'There is no profile constructor'],
    [{ SVC_URL: 'https://a.example' }, undefined, 'SVC_URL is set without SVC_TOKEN'],
    [{ SVC_TOKEN: TOKEN }, undefined, 'SVC_TOKEN is set without SVC_URL'],
    [{ SVC_URL: 'https://a.example', SVC_TOKEN: 'abc\r\nx: y' }, undefined, 'SVC_TOKEN is not a device token'],
    [{ SVC_URL: 'https://a.example', SVC_TOKEN: TOKEN }, 'work', 'name one account and --profile work another'],
  ])('is missing (%j, profile %s): exit 4, and a sentence', async (more, profile, message) => {
    const failure = findAccount({ env: { ...env, ...more }, profile })
    await expect(failure).rejects.toThrow(message)
    await expect(failure).rejects.toMatchObject({ exitCode: 4 })
  })

  test('is gone after signing out, and the sentence names the server', async () => {
    const { token: _, ...signedOut } = ada
    await store({ default: signedOut })
    await expect(findAccount({ env })).rejects.toThrow(`Signed out of ${ada.url}: run svc login ${ada.url}`)
  })

  test('is not used over an unencrypted connection that nobody accepted', async () => {
    const url = 'http://cloud.example.org'
    await store({ default: { ...ada, url }, accepted: { ...ada, url, insecure: true } })
    await expect(findAccount({ env })).rejects.toThrow(/not encrypted/)
    expect(await findAccount({ env, profile: 'accepted' })).toMatchObject({ url })
    const named = { ...env, SVC_URL: url, SVC_TOKEN: TOKEN }
    await expect(findAccount({ env: named })).rejects.toThrow(/not encrypted/)
    expect(await findAccount({ env: { ...named, SVC_INSECURE: '1' } })).toMatchObject({ url })
  })
})

test('names of profiles are plain words', () => {
  expect(['default', 'work-2', 'A.b_c'].every(isProfileName)).toBe(true)
  expect(['', '__proto__', '-x', 'a b', 'ä', '../x', 'a'.repeat(65)].some(isProfileName)).toBe(false)
})
