import { readGiven } from '../../../src/wiring/config/given-config.ts'
import { chmod, chown, mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import {
  dataDirectoryPath,
  openDataDirectory,
  readConfigFile,
} from '../../../src/wiring/installation/data-directory.ts'
import { assertInstalled, isInstalled } from '../../../src/wiring/installation/installation-check.ts'
import { openLocal } from '../../../src/wiring/local-domain.ts'
import { secretKey } from '../../../src/wiring/installation/secret-key.ts'
import { folderOfTest } from '../../support/server.ts'
import { smallDisk } from '../../support/small-disk.ts'

/** What the command line makes a message and exit code 4 of. */
const refusal = (message: string) => ({ name: 'BadDataDirectory', exitCode: 4, message })

const modeOf = async (path: string) => ((await stat(path)).mode & 0o777).toString(8)

test('the place is the flag, else SVC_DATA_DIR, else the user’s own', () => {
  expect(dataDirectoryPath('/a', { SVC_DATA_DIR: '/b', XDG_DATA_HOME: '/c' })).toBe('/a')
  expect(dataDirectoryPath('relative', {})).toBe(resolve('relative'))
  expect(dataDirectoryPath(undefined, { SVC_DATA_DIR: '/b', XDG_DATA_HOME: '/c' })).toBe('/b')
  expect(dataDirectoryPath(undefined, { SVC_DATA_DIR: '', XDG_DATA_HOME: '/c' })).toBe('/c/svc')
  expect(dataDirectoryPath(undefined, { HOME: '/home/ada' })).toBe('/home/ada/.local/share/svc')
  expect(dataDirectoryPath(undefined, {})).toBe(join(homedir(), '.local/share/svc'))
})

describe('a data directory', () => {
  test('on a disk that can only be read is refused, and the reason is said', async ({ skip }) => {
    const disk = await smallDisk(4 << 20)
    if ('reason' in disk) return skip(disk.reason)
    await openDataDirectory(disk.folder)
    await disk.freeze()
    await expect(openDataDirectory(disk.folder)).rejects.toMatchObject(
      refusal(`${disk.folder} cannot be the data directory: the disk is read-only.`),
    )
  })

  test('that is new is made for its owner only, with everything in it', async () => {
    const path = join(await folderOfTest(), 'deep', 'data')
    const local = await openLocal({ dataDir: path, env: {} })
    await local.domain.accounts.create({ username: 'ada', password: 'analytical engine', role: 'admin' })
    await local.close()
    const names = (await readdir(path, { recursive: true })).sort()
    expect(names).toEqual(expect.arrayContaining(['blobs', 'blobs/tmp', 'keys', 'keys/secret.key', 'svc.db']))
    const modes = await Promise.all(
      ['.', ...names].map(async (name) => [name, (await stat(join(path, name))).mode & 0o077]),
    )
    expect(modes.filter(([, others]) => others !== 0)).toEqual([])
    expect([
      await modeOf(path),
      await modeOf(join(path, 'keys', 'secret.key')),
      await modeOf(join(path, 'svc.db')),
    ]).toEqual(['700', '600', '600'])
  })

  test.each([0o770, 0o707, 0o777, 0o720, 0o702])(
    'that others may write to (%o) is refused with what to do',
    async (mode) => {
      const path = join(await folderOfTest(), 'data')
      await mkdir(path)
      await chmod(path, mode)
      await expect(openLocal({ dataDir: path, env: {} })).rejects.toMatchObject(
        refusal(`Other users can write to ${path}: run chmod 700 ${path}.`),
      )
      expect(await readdir(path)).toEqual([])
    },
  )

  test.each([0o700, 0o750, 0o755])('that others may at most read (%o) is taken', async (mode) => {
    const path = join(await folderOfTest(), 'data')
    await mkdir(path)
    await chmod(path, mode)
    expect((await openDataDirectory(path)).path).toBe(path)
  })

  test('of another user is refused with whom to be', async (context) => {
    if (process.getuid?.() !== 0) return context.skip('only root can give a folder away')
    const path = join(await folderOfTest(), 'data')
    await mkdir(path, { mode: 0o700 })
    await chown(path, 12_345, 12_345)
    await expect(openLocal({ dataDir: path, env: {} })).rejects.toThrow(
      /belongs to user 12345, and you are user 0: run svc as its owner \(sudo -u '#12345' svc …\)/,
    )
    expect(await readdir(path)).toEqual([])
  })

  test('that is a file is refused', async () => {
    const path = join(await folderOfTest(), 'file')
    await writeFile(path, '')
    await expect(openLocal({ dataDir: path, env: {} })).rejects.toThrow('it is not a folder')
  })
})

describe('an installation', () => {
  const missing = (message: string) => ({ name: 'NoDataDirectory', exitCode: 5, reason: 'not_found', message })
  const ways = 'name another one with --data-dir or SVC_DATA_DIR, or create one there with svc init or svc serve.'

  test('is not where there is no folder, and none is made', async () => {
    const folder = await folderOfTest()
    const path = join(folder, 'deep', 'data')
    expect(await isInstalled(path, {})).toBe(false)
    await expect(assertInstalled(path, {})).rejects.toMatchObject(
      missing(`There is no data directory at ${path}: ${ways}`),
    )
    expect(await readdir(folder)).toEqual([])
  })

  test('is not in a folder that was prepared for it, or that holds something else', async () => {
    const path = await folderOfTest()
    const refused = missing(`There is no installation of svc in ${path}: ${ways}`)
    await expect(assertInstalled(path, { SVC_DATABASE: '' })).rejects.toMatchObject(refused)
    await mkdir(join(path, 'blobs'))
    await writeFile(join(path, 'notes.txt'), '')
    await expect(assertInstalled(path, {})).rejects.toMatchObject(refused)
  })

  test('is where its rows are, or its settings, even those that cannot be read', async () => {
    for (const name of ['svc.db', 'config.json']) {
      const path = await folderOfTest()
      await writeFile(join(path, name), 'damaged')
      await assertInstalled(path, {})
    }
  })

  test('is where the environment names the server of its rows, whatever the folder holds', async () => {
    const env = { SVC_DATABASE: 'postgres://svc@db.example.org/svc' }
    const path = await folderOfTest()
    await assertInstalled(path, env)
    await assertInstalled(join(path, 'data'), env)
    await mkdir(join(path, 'keys'))
    await assertInstalled(path, env)
  })

  test('is left to what opens it where nobody can look', async () => {
    const path = join(await folderOfTest(), 'file')
    await writeFile(path, '')
    expect(await isInstalled(path, {})).toBe(true)
    expect(await isInstalled(join(path, 'below'), {})).toBe(true)
  })
})

describe('the secret key', () => {
  async function used() {
    const dataDir = join(await folderOfTest(), 'data')
    await (await openLocal({ dataDir, env: {} })).close()
    return { dataDir, key: join(dataDir, 'keys', 'secret.key') }
  }

  test('is made once, of 32 random bytes', async () => {
    const { dataDir, key } = await used()
    const text = await readFile(key, 'utf8')
    expect(text).toMatch(/^[0-9a-f]{64}\n$/)
    await (await openLocal({ dataDir, env: {} })).close()
    expect(await readFile(key, 'utf8')).toBe(text)
    expect(await readFile((await used()).key, 'utf8')).not.toBe(text)
  })

  test('is one for processes that start at the same moment', async () => {
    const directory = await openDataDirectory(join(await folderOfTest(), 'data'))
    const secrets = await Promise.all(Array.from({ length: 8 }, () => secretKey(directory, true, {})))
    await Promise.all(secrets.map(({ keep }) => keep()))
    const keys = secrets.map(({ key }) => key)
    const text = (await readFile(join(directory.path, 'keys', 'secret.key'), 'utf8')).trim()
    expect(keys.map((key) => Buffer.from(key).toString('hex'))).toEqual(keys.map(() => text))
    expect(await readdir(join(directory.path, 'keys'))).toEqual(['secret.key'])
  })

  test('that is missing beside a database is never replaced by another', async () => {
    const { dataDir, key } = await used()
    await rm(key)
    await expect(openLocal({ dataDir, env: {} })).rejects.toMatchObject(
      refusal(`${key} is missing: restore it from a backup, or copy it from another server.`),
    )
    expect(await readdir(join(dataDir, 'keys'))).toEqual([])
  })

  test.each(['', 'x', 'ab'.repeat(31), 'zz'.repeat(32)])('that is damaged is refused: %j', async (text) => {
    const { dataDir, key } = await used()
    await writeFile(key, text)
    await expect(openLocal({ dataDir, env: {} })).rejects.toMatchObject(
      refusal(`${key} is damaged: restore it from a backup.`),
    )
    expect(await readFile(key, 'utf8')).toBe(text)
  })
})

describe('config.json', () => {
  test.each(['', '{', '[]', '1', 'null', '"x"'])('that is no JSON object is refused: %j', async (text) => {
    const dataDir = await folderOfTest()
    await writeFile(join(dataDir, 'config.json'), text)
    await expect(openLocal({ dataDir, env: {} })).rejects.toThrow(
      /config\.json:1: this is not a JSON object\. Check quotes and commas there, or move the file away\.$/,
    )
    expect(await readdir(dataDir)).toEqual(['config.json'])
  })

  test.each([
    ['a comma is missing', '{\n "port": 1,\n "host": "a\\"b,"\n "log_level": "info"\n}', 3],
    ['the last comma is too much', '{"port": 1,\n "tls": true,\n}', 2],
    ['a quote is missing', '{\n"port": 1, "host": "x,\n"tls": true}', 2],
    ['a name has no quotes', '{\n\n  port: 1\n}', 3],
    ['the end is missing', '{"port": 1,\n"host": "x"\n', 2],
  ])('is named with its line, and exit code 2, when %s', async (_, text, line) => {
    const dataDir = await folderOfTest()
    await writeFile(join(dataDir, 'config.json'), text)
    await expect(openLocal({ dataDir, env: {} })).rejects.toMatchObject({
      exitCode: 2,
      message: expect.stringContaining(`config.json:${line}: this is not`) as unknown,
    })
  })

  test('that cannot be read is not taken for none', async () => {
    const dataDir = await folderOfTest()
    await mkdir(join(dataDir, 'config.json'))
    const directory = await openDataDirectory(dataDir)
    await expect(readConfigFile(directory)).rejects.toThrow('EISDIR')
  })

  test('that is not there is empty', async () => {
    expect(await readConfigFile(await openDataDirectory(await folderOfTest()))).toEqual({})
  })
})

test('an installation keeps its identity', async () => {
  const dataDir = await folderOfTest()
  const first = await openLocal({ dataDir, env: {} })
  const { identity } = first.domain.instance
  await first.close()
  const second = await openLocal({ dataDir, env: {} })
  onTestFinished(() => second.close())
  expect(second.domain.instance.identity).toEqual(identity)
  expect([identity.server_id, identity.epoch]).toEqual([
    expect.stringMatching(/^[0-9a-f]{32}$/),
    expect.stringMatching(/^[0-9a-f]{32}$/),
  ])
  expect(identity.server_id).not.toBe(identity.epoch)
})

test('a wrong setting of config.json is named with its line', async () => {
  const dataDir = await folderOfTest()
  const text = '{\n  "host": "127.0.0.1",\n  "port": "many",\n\n  "public_url": "nonsense", "log.level$": 3\n}\n'
  await writeFile(join(dataDir, 'config.json'), text)
  const problems = await readGiven(await openDataDirectory(dataDir), {}).catch((error: Error) => error.message)
  expect(String(problems).split('\n')).toEqual([
    expect.stringMatching(/^config\.json:3: port must be /),
    expect.stringMatching(/^config\.json:5: public_url must be /),
    'config.json:5: there is no option "log.level$".',
  ])
})
