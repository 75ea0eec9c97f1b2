import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { options, variableOf, type OptionName } from '../../../src/domain/instance/instance.ts'
import { changeSetting } from '../../../src/wiring/config/setting-change.ts'
import { BadConfig, readConfig } from '../../../src/wiring/config/config.ts'
import { openLocal, type LocalOptions } from '../../../src/wiring/local-domain.ts'
import { folderOfTest } from '../../support/server.ts'

const problemsOf = (...given: Parameters<typeof readConfig>): string[] => {
  try {
    readConfig(...given)
  } catch (error) {
    if (error instanceof BadConfig) return error.message.split('\n')
    throw error
  }
  return []
}

describe('what is given from outside', () => {
  test('is nothing where nothing is said', () => {
    expect(readConfig({}, {}, {})).toEqual({ values: {}, sources: {} })
    expect(readConfig({ SVC_PORT: '', PATH: '/bin', SVC_NONSENSE: 'x' }, {}, { port: undefined })).toEqual({
      values: {},
      sources: {},
    })
  })

  test('is taken from flags before the environment, and from that before config.json', () => {
    const file = { port: 1, host: 'file.example', log_level: 'debug' }
    const env = { SVC_PORT: '2', SVC_HOST: 'env.example' }
    expect(readConfig(env, file, { port: '3' })).toEqual({
      values: { port: 3, host: 'env.example', log_level: 'debug' },
      sources: { port: 'flag', host: 'environment', log_level: 'config.json' },
    })
  })

  test('is read as its option reads it, from texts and from JSON', () => {
    const file = {
      port: 80,
      'limits.enabled': false,
      'limits.sync_push': 7,
      'quota.default': '1.5GB',
      trusted_proxies: '10.0.0.0/8, ::1',
    }
    expect(readConfig({}, file, {}).values).toEqual({
      port: 80,
      'limits.enabled': false,
      'limits.sync_push': 7,
      'quota.default': 1.5 * 1024 ** 3,
      trusted_proxies: ['10.0.0.0/8', '::1'],
    })
    expect(
      readConfig({ SVC_LIMITS: 'off', SVC_LIMITS_SYNC_UPLOAD: '600', SVC_QUOTA_DEFAULT: 'none' }, {}, {}).values,
    ).toEqual({
      'limits.enabled': false,
      'limits.sync_upload': 600,
      'quota.default': -1,
    })
  })

  test.each([
    'https://ada:secret@example.org',
    'https://ada@example.org',
    'https://example.org:99999',
    'https://example.org:0',
    'https://exa mple.org',
    'https://exa%mple.org',
    'https://example.org/path',
    'https://example.org?query',
    'https://',
  ])('is refused with the public URL %s, and no password in it is told', (public_url) => {
    const [problem] = problemsOf({}, {}, { public_url })
    expect(problem).toMatch(/^--public-url must/)
    expect(problem).not.toContain('secret')
  })

  test('is refused with everything that is wrong with it, at once', () => {
    const problems = problemsOf(
      { SVC_PORT: '99999', SVC_LIMITS: 'perhaps', SVC_HOST: 'ok.example' },
      { port: 'x', nonsense: 1, host: ['a'], log_level: 'loud', metrics: null, 'limits.sync_push': 0 },
      { public_url: 'ftp://example.org' },
    )
    expect(problems.sort()).toEqual([
      '--public-url must be a URL without a path, such as https://cloud.example.org.',
      'SVC_LIMITS must be on or off, not "perhaps".',
      'SVC_PORT must be a whole number from 0 to 65535, not "99999".',
      'config.json: host must be a text, a number, true or false.',
      'config.json: limits.sync_push must be a whole number from 1 to 1000000, not "0".',
      'config.json: log_level must be debug or info or warn or error or silent, not "loud".',
      'config.json: metrics must be a text, a number, true or false.',
      'config.json: port must be a whole number from 0 to 65535, not "x".',
      'config.json: there is no option "nonsense".',
    ])
  })

  test.each([
    'mysql://svc:secret@db/svc',
    'postgres://svc:secret@',
    'postgres://svc:secret@db/a b',
    'postgres://svc:secret@db-1:5432,/svc',
    'postgres://svc:secret@db-1,db-2/svc?target_session_attrs=standby',
  ])('says what is wrong with the address of a database, and no password: %s', (database) => {
    expect(problemsOf({ SVC_DATABASE: database }, {}, {})).toEqual([
      'SVC_DATABASE must be an address as postgres://USER:PASSWORD@HOST/NAME or postgres://USER:PASSWORD@HOST,HOST/NAME.',
    ])
  })

  test.each([
    'postgres:///svc?host=/run/postgresql',
    'postgres://svc:s%40cret@db-1:5432,db-2:6432/svc?sslmode=verify-full&target_session_attrs=read-write',
  ])('takes %s', (database) => {
    expect(problemsOf({ SVC_DATABASE: database }, {}, {})).toEqual([])
  })

  test.each(['toString', '__proto__', 'constructor', 'hasOwnProperty'])('is no option by the name of %s', (name) => {
    expect(problemsOf({}, JSON.parse(`{${JSON.stringify(name)}: 1}`) as Record<string, unknown>, {})).toEqual([
      `config.json: there is no option "${name}".`,
    ])
  })
})

describe('an option', () => {
  const names = Object.keys(options) as OptionName[]

  test('has an environment variable of its own', () => {
    const variables = names.map(variableOf)
    expect(new Set(variables).size).toBe(names.length)
    expect(variables.filter((name) => !/^SVC_[A-Z0-9_]+$/.test(name))).toEqual([])
    expect([variableOf('limits.sync_upload'), variableOf('limits.enabled'), variableOf('public_url')]).toEqual([
      'SVC_LIMITS_SYNC_UPLOAD',
      'SVC_LIMITS',
      'SVC_PUBLIC_URL',
    ])
  })

  test.each(names)('reads back what it shows of its default: %s', (name) => {
    const { kind, standard } = options[name] as {
      kind: { parse(text: string): unknown; show(value: unknown): string }
      standard: unknown
    }
    expect(kind.parse(kind.show(standard))).toEqual(standard)
  })

  test.each<[OptionName, string[], string[]]>([
    ['host', ['127.0.0.1', '::1', '0.0.0.0', 'cloud.example.org'], ['a b', 'http://x', 'a/b', 'ü']],
    ['port', ['0', '8420', '65535'], ['-1', '65536', '1.5', '', 'x', '0x10', '1e3', ' 80']],
    [
      'public_url',
      ['', 'https://cloud.example.org', 'http://localhost:8420'],
      ['cloud.example.org', 'https://x/path', 'https://x/', 'https://x?y', 'javascript:alert(1)'],
    ],
    [
      'trusted_proxies',
      ['', '10.0.0.1', '10.0.0.0/8,192.168.1.1', 'fd00::/8'],
      ['true', '1', '*', 'loopback', '10.0.0.1;10.0.0.2'],
    ],
    ['log_level', ['debug', 'silent'], ['trace', 'INFO', '']],
    ['limits.enabled', ['on', 'OFF', 'true', 'no', '1', '0'], ['', 'enabled', '2']],
    ['limits.sync_push', ['1', '1000000'], ['0', '1000001', '-5', 'none']],
    ['quota.default', ['0', '1000', '10GB', '1.5 MiB', 'none'], ['-1', 'lots', '10 parsecs', '']],
    ['retention.versions_days', ['1', '30'], ['0', '-1', '36501']],
  ])('%s takes what it should and nothing else', (name, good, bad) => {
    const { kind } = options[name]
    for (const text of good) expect(() => kind.parse(text), text).not.toThrow()
    for (const text of bad) expect(() => kind.parse(text), text).toThrow(/^must be /)
  })
})

/** Opens a data directory for one test. */
async function opened(options: LocalOptions) {
  const local = await openLocal({ env: {}, ...options })
  onTestFinished(() => local.close())
  return local
}

const listed = async ({ domain }: Awaited<ReturnType<typeof opened>>, name: string) => {
  const { value, source } = (await domain.instance.settings.list()).find((option) => option.name === name)!
  return [value, source]
}

describe('a setting in force', () => {
  test('says where it comes from: flag, environment, file, database, default', async () => {
    const dataDir = await folderOfTest()
    await writeFile(join(dataDir, 'config.json'), JSON.stringify({ 'limits.sync_push': 11, host: 'localhost' }))
    const local = await opened({ dataDir, env: { SVC_LIMITS_SYNC_DELTA: '22' }, flags: { port: '0' } })
    const { settings } = local.domain.instance
    await settings.store('limits.sync_move', 33)
    await settings.store('limits.sync_push', 44)
    await settings.store('limits.sync_delta', 55)
    const other = await opened({ dataDir })
    expect([await listed(local, 'port'), await listed(local, 'host'), await listed(local, 'metrics')]).toEqual([
      [0, 'flag'],
      ['localhost', 'config.json'],
      ['loopback', 'default'],
    ])
    expect([await listed(local, 'limits.sync_delta'), await listed(local, 'limits.sync_push')]).toEqual([
      [22, 'environment'],
      [11, 'config.json'],
    ])
    expect([await listed(other, 'limits.sync_move'), await listed(other, 'limits.sync_delta')]).toEqual([
      [33, 'database'],
      [55, 'database'],
    ])
    await settings.store('limits.sync_move', undefined)
    const third = await opened({ dataDir })
    expect(await listed(third, 'limits.sync_move')).toEqual([30, 'default'])
  })

  test('can be changed while the service runs only where that has an effect', async () => {
    const { domain } = await opened({ dataDir: await folderOfTest() })
    for (const name of ['port', 'nonsense', '#maintenance', '#version', '__proto__']) {
      await expect(domain.instance.settings.store(name, 1), name).rejects.toMatchObject({ code: 'not_found' })
    }
  })
})

describe('changing a setting', () => {
  test('goes to the database where it has an effect at once, to config.json where it has one at the next start', async () => {
    const dataDir = await folderOfTest()
    const local = await opened({ dataDir })
    const change = (name: string, text: string | undefined) =>
      changeSetting({ instance: local.domain.instance, config: local.config, directory: local.directory }, name, text)
    const file = async () => JSON.parse(await readFile(join(dataDir, 'config.json'), 'utf8')) as unknown

    expect(await change('limits.sync_push', '5')).toEqual({ stored: 'database', overriddenBy: undefined })
    expect(await change('port', '1234')).toEqual({ stored: 'config.json', overriddenBy: undefined })
    await change('trusted_proxies', '10.0.0.1, 10.0.0.2')
    expect(await file()).toEqual({ port: 1234, trusted_proxies: '10.0.0.1,10.0.0.2' })
    const next = await opened({ dataDir })
    expect([
      await listed(next, 'port'),
      await listed(next, 'trusted_proxies'),
      await listed(next, 'limits.sync_push'),
    ]).toEqual([
      [1234, 'config.json'],
      [['10.0.0.1', '10.0.0.2'], 'config.json'],
      [5, 'database'],
    ])
    await change('port', undefined)
    await change('limits.sync_push', undefined)
    expect(await file()).toEqual({ trusted_proxies: '10.0.0.1,10.0.0.2' })
    expect(await listed(await opened({ dataDir }), 'limits.sync_push')).toEqual([30, 'default'])
  })

  test('stands in the audit log, wherever it is stored, and loses no other change of the same moment', async () => {
    const dataDir = await folderOfTest()
    const { domain, config, directory } = await opened({ dataDir })
    const change = (name: string, text: string | undefined) =>
      changeSetting({ instance: domain.instance, config, directory }, name, text)
    await Promise.all([
      change('public_url', 'https://cloud.example.org'),
      change('trusted_proxies', '10.0.0.1'),
      change('port', '80'),
    ])
    expect(JSON.parse(await readFile(directory.config, 'utf8'))).toEqual({
      public_url: 'https://cloud.example.org',
      trusted_proxies: '10.0.0.1',
      port: 80,
    })
    await change('port', undefined)
    await change('limits.sync_push', '5')
    const entries = await domain.instance.audit.list({ kinds: ['setting.changed'], limit: 9 })
    expect(entries.map(({ detail }) => JSON.parse(detail!) as unknown).slice(0, 2)).toEqual([
      { name: 'limits.sync_push', value: '5' },
      { name: 'port', value: null },
    ])
    expect(
      entries
        .slice(2)
        .map(({ detail }) => (JSON.parse(detail!) as { name: string }).name)
        .sort(),
    ).toEqual(['port', 'public_url', 'trusted_proxies'])
  })

  test('says what wins over it', async () => {
    const dataDir = await folderOfTest()
    await writeFile(join(dataDir, 'config.json'), JSON.stringify({ 'limits.sync_push': 11, port: 80 }))
    const local = await opened({ dataDir, env: { SVC_LIMITS_SYNC_DELTA: '22', SVC_HOST: 'localhost' } })
    const change = (name: string, text: string) =>
      changeSetting({ instance: local.domain.instance, config: local.config, directory: local.directory }, name, text)
    expect((await change('limits.sync_push', '5')).overriddenBy).toBe('config.json')
    expect((await change('limits.sync_delta', '5')).overriddenBy).toBe('the environment variable SVC_LIMITS_SYNC_DELTA')
    expect((await change('host', '::1')).overriddenBy).toBe('the environment variable SVC_HOST')
    expect((await change('port', '81')).overriddenBy).toBeUndefined()
  })

  test('is refused when there is no such option or value, and changes nothing', async () => {
    const dataDir = await folderOfTest()
    const local = await opened({ dataDir })
    const change = (name: string, text: string) =>
      changeSetting({ instance: local.domain.instance, config: local.config, directory: local.directory }, name, text)
    await expect(change('nonsense', '1')).rejects.toMatchObject({ code: 'not_found' })
    await expect(change('port', 'x')).rejects.toThrow(
      new BadConfig('port must be a whole number from 0 to 65535, not "x".'),
    )
    await expect(change('limits.sync_push', '0')).rejects.toThrow(BadConfig)
    await expect(readFile(join(dataDir, 'config.json'))).rejects.toThrow('ENOENT')
    expect(await listed(local, 'limits.sync_push')).toEqual([30, 'default'])
  })
})
