import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { check } from 'prettier'
import { describe, expect, test } from 'vitest'
import { inspectPackage } from '../../src/cli/app/package.ts'
import { catalogue } from '../../src/cli/template/catalogue.ts'
import { warningFor, nextSteps, templateNamed, valuesOf } from '../../src/cli/template/placeholders.ts'
import { desktopComponents } from '../../src/contract/desktop-components.ts'
import { filesBelow } from '../support/contents.ts'
import { folderOfTest, serverOfTest } from '../support/server.ts'
import { programNamed, run, written } from './programs.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const globals = { env: {}, json: false, debug: false, quiet: false, dataDir: undefined, profile: undefined }
const nothing = { host: undefined, user: undefined, port: undefined }

describe.each(Object.keys(catalogue))('the template %s', (name) => {
  test('has a value for all that it leaves open', async () => {
    const files = await written(name)
    const steps = nextSteps(templateNamed(name), valuesOf(nothing, globals))
    for (const text of [...Object.values(files), ...steps]) expect(text).not.toMatch(/\{\{|\}\}/)
    expect(Object.keys(files).length).toBeGreaterThan(0)
    expect(steps.length).toBeGreaterThan(0)
  })

  test('is laid out like the sources', async () => {
    const config = JSON.parse(await readFile(join(root, '.prettierrc.json'), 'utf8')) as object
    for (const [file, text] of Object.entries(await written(name))) {
      if (/\.(css|html|js|json|ya?ml)$/.test(file))
        expect([file, await check(text, { ...config, filepath: file })]).toEqual([file, true])
    }
  })
})

test('every file of the folder belongs to a template', async () => {
  const used = new Set(Object.values(catalogue).flatMap(({ files }) => Object.values(files)))
  expect(await filesBelow(join(root, 'templates'))).toEqual([...used].sort())
})

describe('what is filled in', () => {
  test('is what was given', async () => {
    const given = { host: 'Cloud.Example.ORG', user: 'cloud', port: 9_000, dataDir: '/srv/cloud' }
    const unit = (await written('systemd', given))['svc.service']!
    expect(unit).toContain('User=cloud\nGroup=cloud\n')
    expect(unit).toMatch(/^ExecStart=\/\S+ \/\S+ serve --existing --data-dir \/srv\/cloud --port 9000$/m)
    expect(unit).toContain('\nReadWritePaths=/srv/cloud\n')
    const nginx = (await written('nginx', given))['svc.nginx.conf']!
    expect(nginx).toContain('server_name cloud.example.org;')
    expect(nginx).toContain('server 127.0.0.1:9000;')
  })

  test('leaves homes open for reading only where the service is in one', async () => {
    const homes = async (dataDir: string) =>
      /ProtectHome=(.*)/.exec((await written('systemd', { dataDir }))['svc.service']!)?.[1]
    const program = /^\/(home|root)\//.test(process.argv[1]!) || /^\/(home|root)\//.test(process.execPath)
    expect(await homes('/var/lib/svc')).toBe(program ? 'read-only' : 'yes')
    expect(await homes('/home/ada/svc')).toBe('read-only')
    expect(await homes('/homes/svc')).toBe(program ? 'read-only' : 'yes')
  })

  test('is doubted where a service would not find its program', () => {
    const unit = (command: string, user = 'User=svc') =>
      warningFor([{ text: `${user}\nExecStart=${command} serve` }], { command, user: 'svc' })
    expect(unit('/usr/bin/node /home/ada/svc/bin/svc.js')).toMatch(/svc must be able to read/)
    expect(unit('/root/.nvm/bin/node /opt/svc/bin/svc.js')).toBeDefined()
    expect(unit('/usr/bin/node /opt/home/bin/svc.js')).toBeUndefined()
    // A unit of one's own runs as whoever starts it.
    expect(unit('/usr/bin/node /home/ada/svc/bin/svc.js', '')).toBeUndefined()
    expect(warningFor([{ text: 'no program' }], { command: '/home/ada/svc' })).toBeUndefined()
  })

  test('is doubted where a service has temporary folders of its own', async () => {
    const warning = async (dataDir: string) => {
      const files = await written('systemd', { dataDir })
      const texts = Object.values(files).map((text) => ({ text }))
      return warningFor(texts, { command: '/usr/bin/node /opt/svc/bin/svc.js', user: 'svc', data_dir: dataDir })
    }
    expect(await warning('/tmp/cloud')).toMatch(/cannot see \/tmp\/cloud/)
    expect(await warning('/var/tmp/cloud')).toBeDefined()
    expect(await warning('/tmpfs/cloud')).toBeUndefined()
    const program = { command: '/usr/bin/node /tmp/svc/bin/svc.js', user: 'svc', data_dir: '/var/lib/svc' }
    expect(warningFor([{ text: 'PrivateTmp=yes' }], program)).toMatch(/cannot see \/tmp\/svc/)
    expect(warningFor([{ text: 'no unit' }], program)).toBeUndefined()
  })

  test.each([
    ['host', 'a;b'],
    ['host', 'cloud.example.org {'],
    ['host', 'cloud.example.org\nserver_name *'],
    ['host', 'https://cloud.example.org'],
    ['host', 'cloud.example.org:443'],
    ['host', '-a.example'],
    ['host', 'a..b'],
    ['host', ''],
    ['host', 'a.'.repeat(130)],
    ['user', 'root;'],
    ['user', 'two words'],
    ['user', '%u'],
    ['user', ''],
    ['user', '-x'],
    ['dataDir', '/var/lib/svc\nExecStartPre=/bin/sh'],
    ['dataDir', '/var/lib/my data'],
    ['dataDir', '/var/lib/%h'],
    ['dataDir', '/var/lib/$(id)'],
    ['dataDir', '/var/lib/"x"'],
  ])('cannot say more than a value: %s %j', async (name, value) => {
    await expect(written('systemd', { [name]: value })).rejects.toMatchObject({ code: 2 })
  })
})

describe('the sample app', () => {
  test('passes the check without a word', async () => {
    const folder = await folderOfTest()
    await mkdir(join(folder, 'focus'))
    for (const [file, text] of Object.entries(await written('sample-app'))) await writeFile(join(folder, file), text)
    const { app, problems, warnings } = await inspectPackage(join(folder, 'focus'))
    expect([app?.manifest.slug, problems, warnings]).toEqual(['focus', [], []])
  })
})

test('the sample components can be saved', async () => {
  const ada = await (await serverOfTest()).account({ plantsCode: true })
  const types = { css: 'css', js: 'js', html: 'widget' } as const
  for (const [file, code] of Object.entries(await written('sample-components'))) {
    const component_type = types[file.split('.').at(-1) as keyof typeof types]
    const params = { component_id: file.split('.', 1)[0]!, component_type, code }
    expect((await ada.call(desktopComponents.actions.save, params)).status).toBe(200)
  }
})

test('the backup of the timer is one that works', async () => {
  const dataDir = join(await folderOfTest(), 'data')
  const place = join(dataDir, '..', 'backups')
  const unit = (await written('systemd-backup', { dataDir }))['svc-backup.service']!.replaceAll(
    '/mnt/backup/svc',
    place,
  )
  const commands = [...unit.matchAll(/^ExecStart=\S+ \S+ (.*)$/gm)].map((match) => match[1]!.split(' '))
  const said = []
  for (const words of [['user', 'add', 'ada', '--generate', '--data-dir', dataDir], ...commands])
    said.push(await run(process.execPath, [join(root, 'bin/svc.js'), ...words], { HOME: place }))
  expect(said).toEqual([
    { code: 0, text: expect.stringMatching(/^Added ada/) as string },
    { code: 0, text: expect.stringMatching(/^Backed up /) as string },
    { code: 0, text: expect.stringMatching(/^There is nothing to remove/) as string },
  ])
})

test('the unit of a stream runs a command that exists', async () => {
  const dataDir = join(await folderOfTest(), 'data')
  const unit = (await written('systemd-stream', { dataDir }))['svc-stream.service']!
  const words = /^ExecStart=\S+ \S+ (.*)$/m.exec(unit)![1]!.split(' ')
  expect(words).toEqual(['backup', 'stream', '--data-dir', dataDir, '--to', '/mnt/backup/svc'])
  const svc = join(root, 'bin/svc.js')
  // Without an installation nothing is written; wrong usage would be 2.
  expect((await run(process.execPath, [svc, ...words], { HOME: dataDir })).code).toBe(5)
})

test.skipIf(!programNamed('systemd-analyze'))('systemd understands the units, and finds little left open', async () => {
  const folder = await folderOfTest()
  const units = {
    ...(await written('systemd')),
    ...(await written('systemd-backup')),
    ...(await written('systemd-stream')),
  }
  const paths = Object.keys(units).map((name) => join(folder, name))
  for (const [name, text] of Object.entries(units)) await writeFile(join(folder, name), text)
  const analyze = programNamed('systemd-analyze')!
  expect(await run(analyze, ['verify', ...paths])).toEqual({ code: 0, text: '' })
  for (const path of paths.filter((name) => name.endsWith('.service'))) {
    const { text } = await run(analyze, ['security', '--offline=yes', '--no-pager', path])
    expect(Number(/Overall exposure level for \S+: ([\d.]+)/.exec(text)?.[1])).toBeLessThan(2)
  }
})

test.skipIf(!programNamed('systemd-analyze'))('systemd understands the unit of a user', async () => {
  const file = join(await folderOfTest(), 'svc-sync.service')
  await writeFile(file, (await written('systemd-sync'))['svc-sync.service']!)
  expect(await run(programNamed('systemd-analyze')!, ['verify', file])).toEqual({ code: 0, text: '' })
})

test.skipIf(!programNamed('caddy'))('Caddy understands its part of the containers', async () => {
  const file = join(await folderOfTest(), 'Caddyfile')
  await writeFile(file, (await written('compose'))['Caddyfile']!)
  const { code } = await run(programNamed('caddy')!, ['validate', '--adapter', 'caddyfile', '--config', file])
  expect(code).toBe(0)
})

test.skipIf(!programNamed('logrotate'))('logrotate understands what to rotate', async () => {
  const file = join(await folderOfTest(), 'svc')
  const text = (await written('logrotate', { user: process.getuid?.() === 0 ? 'root' : 'nobody' }))['svc.logrotate']!
  await writeFile(file, text, { mode: 0o644 })
  const { code, text: said } = await run(programNamed('logrotate')!, ['--debug', '--state', '/dev/null', file])
  expect([code, said]).toEqual([0, expect.stringContaining('/var/log/svc/*.log')])
  expect(said).not.toMatch(/^error:/m)
})
