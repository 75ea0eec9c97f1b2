import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { contents, useSyncCommand, write } from '../support/sync-command.ts'

// The command as it is built, with names, folders, times and servers that wish it no good.

const command = useSyncCommand()
const { ok, svc, start, folders } = command

/** Many processes one after the other, on machines that are busy with other tests. */
const PATIENCE = 240_000

const NFD = (text: string): string => text.normalize('NFD')
const NFC = (text: string): string => text.normalize('NFC')

test(
  'folders and files with decomposed names stay, are edited and follow to another device',
  { timeout: PATIENCE },
  async () => {
    const { profile, roots } = await folders(3)
    const [one, other, third] = roots as [string, string, string]
    const sync = async (root: string): Promise<void> => {
      const { code, stdout, stderr } = await svc(['sync', root, '--profile', profile, '--json'])
      const summary = JSON.parse(stdout.trim().split('\n').at(-1)!) as object
      expect({ root, code, summary }, stderr).toMatchObject({
        code: 0,
        summary: { in_sync: true, removed_here: 0, removed_there: 0, conflicts: [], skipped: [] },
      })
    }
    const wanted: Record<string, string> = {
      [NFD('Übungen')]: '/',
      [NFD('Übungen/größe.txt')]: 'decomposed within decomposed',
      [`${NFD('Übungen')}/${NFC('schön.txt')}`]: 'composed within decomposed',
      [NFD('einzeln é.txt')]: 'a file at the top',
      [NFC('Größen')]: '/',
      [`${NFC('Größen')}/${NFD('Ångström.txt')}`]: 'decomposed within composed',
    }
    for (const [path, content] of Object.entries(wanted)) if (content !== '/') write(one, path, content)
    for (const root of [one, one, one, other, other, one]) await sync(root)
    expect(contents(one)).toEqual(wanted)
    expect(contents(other)).toEqual(wanted)

    for (const path of [NFD('Übungen/größe.txt'), NFD('einzeln é.txt')]) {
      writeFileSync(join(one, path), 'edited on the first device')
      wanted[path] = 'edited on the first device'
    }
    const inComposed = `${NFC('Größen')}/${NFD('Ångström.txt')}`
    writeFileSync(join(other, inComposed), 'edited on the second device')
    wanted[inComposed] = 'edited on the second device'
    for (const root of [one, other, one, other]) await sync(root)
    expect(contents(one)).toEqual(wanted)
    expect(contents(other)).toEqual(wanted)

    // A device whose names are composed, as those of most Linux programs are, has the same folder.
    write(third, NFC('Übungen/neu.txt'), 'from a third device')
    for (const root of [third, third, one]) await sync(root)
    expect(readFileSync(join(third, NFC('Übungen'), NFD('größe.txt')), 'utf8')).toBe('edited on the first device')
    expect(readFileSync(join(one, NFD('Übungen'), 'neu.txt'), 'utf8')).toBe('from a third device')

    renameSync(join(one, NFD('Übungen')), join(one, NFD('Prüfungen')))
    const { code } = await svc(['sync', one, '--profile', profile])
    expect(code).toBe(0)
    await sync(other)
    expect(readFileSync(join(other, NFD('Prüfungen/größe.txt')), 'utf8')).toBe('edited on the first device')
    rmSync(join(one, NFD('Prüfungen/größe.txt')))
    expect((await svc(['sync', one, '--profile', profile])).code).toBe(0)
    expect((await svc(['sync', other, '--profile', profile])).code).toBe(0)
    expect(Object.keys(contents(other))).not.toContain(NFD('Prüfungen/größe.txt'))
    expect(contents(one)).toEqual(contents(other))
  },
)

const LARGE = Buffer.alloc(48 * 1_048_576, 'large ')

test(
  'a run that large files end early says how it ended: quota, Ctrl-C, and then all is well',
  { timeout: PATIENCE },
  async () => {
    const { profile, roots } = await folders(1)
    const [root] = roots as [string]
    await ok(['quota', 'set', profile, '20MB'])
    for (const name of ['one', 'other']) write(root, name, LARGE)
    const full = await svc(['sync', root, '--profile', profile, '--json'])
    expect(full.code, full.stderr).toBe(3)
    expect(JSON.parse(full.stdout.trim().split('\n').at(-1)!)).toMatchObject({
      uploaded: { files: 0 },
      skipped: [{ code: 'quota' }, { code: 'quota' }],
    })

    await ok(['quota', 'set', profile, 'none'])
    for (const at of [0, 30, 100]) {
      const { child, ended } = start(['sync', root, '--profile', profile, '--json'])
      child.stdout.once('data', () => setTimeout(() => child.kill('SIGINT'), at))
      const { code, stderr } = await ended
      // However fast the machine is: either it was interrupted, or it was done.
      expect([0, 130], stderr).toContain(code)
      if (code === 130) expect(stderr).toContain('Interrupted')
    }
    expect((await svc(['sync', root, '--profile', profile])).code).toBe(0)
    await ok(['files', 'cat', '/one', '--profile', profile])
  },
)

test(
  'a folder that nobody may enter is named, and everything beside it is synchronised',
  { timeout: PATIENCE },
  async () => {
    const { profile, roots } = await folders(2)
    const [one, other] = roots as [string, string]
    const names = ['lost+found', 'no list', 'no entry', 'open']
    for (const name of names) write(one, `${name}/inside.txt`, `first ${name}`)
    for (const root of [one, other]) await ok(['sync', root, '--profile', profile])

    // What a folder holds counts as unknown: what comes there is not brought, what was there is not deleted.
    write(other, 'open/new.txt', 'new')
    write(other, 'lost+found/new.txt', 'new')
    write(one, 'open/mine.txt', 'mine')
    await ok(['sync', other, '--profile', profile])
    const [closed, unlisted, unentered] = [0o000, 0o300, 0o600].map(
      (mode, at) => [join(one, names[at]!), mode] as const,
    )
    for (const [folder, mode] of [closed!, unlisted!, unentered!]) chmodSync(folder, mode)
    onTestFinished(() => [closed!, unlisted!, unentered!].forEach(([folder]) => chmodSync(folder, 0o700)))
    for (let round = 1; round <= 2; round += 1) {
      const { code, stdout, stderr } = await svc(['sync', one, '--profile', profile, '--json'], { confined: true })
      expect(code, stderr).toBe(3)
      const summary = JSON.parse(stdout.trim().split('\n').at(-1)!) as { skipped: { path: string; code: string }[] }
      expect(summary).toMatchObject({ removed_here: 0, removed_there: 0, moved_here: 0, moved_there: 0 })
      expect(summary.skipped.map((each) => `${each.code} ${each.path}`).sort()).toEqual(
        ['lost+found', 'no entry', 'no list'].map((name) => `unreadable /${name}`),
      )
    }
    expect(readFileSync(join(one, 'open/new.txt'), 'utf8')).toBe('new')
    await ok(['sync', other, '--profile', profile])
    expect(readFileSync(join(other, 'open/mine.txt'), 'utf8')).toBe('mine')
    for (const name of names) expect(existsSync(join(other, name, 'inside.txt')), name).toBe(true)

    for (const [folder] of [closed!, unlisted!, unentered!]) chmodSync(folder, 0o700)
    const { code, stderr } = await svc(['sync', one, '--profile', profile], { confined: true })
    expect(code, stderr).toBe(0)
    expect(contents(one)).toEqual(contents(other))
  },
)

test('a file that nobody may read is named once, and stays on both sides', { timeout: PATIENCE }, async () => {
  const { profile, roots } = await folders(1)
  const [root] = roots as [string]
  for (const name of ['closed.txt', 'open.txt']) write(root, name, 'first')
  await ok(['sync', root, '--profile', profile])
  const closed = join(root, 'closed.txt')
  chmodSync(closed, 0o000)
  onTestFinished(() => chmodSync(closed, 0o600))
  for (let round = 1; round <= 2; round += 1) {
    write(root, 'open.txt', `round ${round}`)
    const { code, stdout, stderr } = await svc(['sync', root, '--profile', profile, '--json'], { confined: true })
    expect(code, stderr).toBe(3)
    expect(JSON.parse(stdout.trim().split('\n').at(-1)!)).toMatchObject({
      uploaded: { files: 1 },
      skipped: [{ path: '/closed.txt', code: 'unreadable' }],
    })
  }
  await ok(['files', 'cat', '/closed.txt', '--profile', profile])
  expect(existsSync(closed)).toBe(true)
})

/** What answers in the place of a server: the page of a hotel, another program, and one that says that all is well. */
const strangers: Record<string, (response: ServerResponse) => void> = {
  page: (response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<html>Welcome to the hotel</html>'),
  'other JSON': (response) => response.writeHead(200, { 'content-type': 'application/json' }).end('{"hello":"world"}'),
  'fine JSON': (response) => response.writeHead(200, { 'content-type': 'application/json' }).end('{"ok":true}'),
  list: (response) => response.writeHead(200, { 'content-type': 'application/json' }).end('[]'),
}

test('whatever answers 200 and is no svc server is called that, by every command', { timeout: PATIENCE }, async () => {
  const { profile, roots } = await folders(1)
  const [root] = roots as [string]
  write(root, 'a.txt', 'a')
  const file = join(root, 'a.txt')
  const asked: string[] = []
  let answer = strangers['page']!
  const server = createServer((request, response) => {
    asked.push(request.url!)
    request.resume().on('end', () => answer(response))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close().closeAllConnections())
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const credentials = join(command.home, '.config/svc/credentials.json')
  const before = readFileSync(credentials, 'utf8')
  onTestFinished(() => writeFileSync(credentials, before))
  writeFileSync(credentials, before.replaceAll(command.url, url))

  const commands: string[][] = [
    ['login', url, '--profile', 'new', '--username', 'ada', '--password-stdin'],
    ['whoami'],
    ['sync', root],
    ['sync', 'init', join(root, '..', `${profile}-new`)],
    ['files', 'ls'],
    ['files', 'tree'],
    ['files', 'cat', '/a.txt'],
    ['files', 'get', '/a.txt', join(root, 'b.txt')],
    ['files', 'put', file, '/b.txt'],
    ['files', 'mkdir', '/d'],
    ['files', 'mv', '/a.txt', '/b.txt'],
    ['files', 'rm', '/a.txt', '--yes'],
    ['files', 'quota'],
    ['trash', 'list'],
    ['versions', '/a.txt'],
    ['data', 'list', 'svc_notes'],
    ['chat', 'rooms'],
    ['chat', 'send', 'General', 'hello'],
    ['ask', 'What now?'],
    ['ask', 'list'],
    ['component', 'list'],
  ]
  const found: Record<string, unknown> = {}
  for (const [at, args] of commands.entries()) {
    const kinds = Object.keys(strangers)
    const kind = kinds[at % kinds.length]!
    answer = strangers[kind]!
    asked.length = 0
    const named = args[0] === 'login' ? [] : ['--profile', profile]
    const { code, stderr } = await svc([...args, ...named], { stdin: 'secret word', env: { SVC_DATA_DIR: '' } })
    const isTold = /not an? (sound )?svc server/.test(stderr) && asked.length > 0
    if (code !== 7 || !isTold) found[`${args.join(' ')} (${kind})`] = { code, stderr, asked: [...asked] }
  }
  expect(found).toEqual({})
})

test(
  'a name that is not UTF-8 holds back only the deletion of what is missing beside it',
  { timeout: PATIENCE },
  async () => {
    const { profile, roots } = await folders(2)
    const [one, other] = roots as [string, string]
    const sync = (root: string) => svc(['sync', root, '--profile', profile, '--json'])
    for (const path of ['a.txt', 'missing.txt', 'folder/b.txt']) write(one, path, path)
    await sync(one)
    await sync(other)

    writeFileSync(Buffer.concat([Buffer.from(`${one}/old-`), Buffer.from([0xe9]), Buffer.from('.txt')]), 'latin1')
    rmSync(join(one, 'missing.txt'))
    rmSync(join(other, 'a.txt'))
    for (const path of ['new.txt', 'folder/new.txt']) write(other, path, path)
    expect((await sync(other)).code).toBe(0)
    const { code, stdout } = await sync(one)
    expect(code).toBe(3)
    expect(JSON.parse(stdout.trim().split('\n').at(-1)!)).toMatchObject({
      skipped: [{ code: 'not_utf8' }],
      removed_here: 1,
      removed_there: 0,
    })
    for (const path of ['new.txt', 'folder/new.txt']) expect(readFileSync(join(one, path), 'utf8')).toBe(path)
    expect(existsSync(join(one, 'a.txt'))).toBe(false)
    // Perhaps it has the other name now.
    expect((await sync(other)).code).toBe(0)
    expect(existsSync(join(other, 'missing.txt'))).toBe(true)
  },
)

test(
  'a pipe or a folder in the place of a file of svc is named, and nothing waits for it',
  { timeout: PATIENCE },
  async () => {
    const config = join(command.home, '.config', 'svc')
    const state = join(command.home, '.local', 'state', 'svc')
    const databases = () =>
      (existsSync(join(state, 'rows')) ? readdirSync(join(state, 'rows')) : []).filter((name) => name.endsWith('.db'))
    const before = databases()
    const { profile, roots } = await folders(1)
    const root = roots[0]!
    write(root, 'a.txt', 'kept')
    await ok(['sync', root, '--profile', profile])
    const own = databases().find((name) => !before.includes(name))!
    const { root_id } = JSON.parse(readFileSync(join(root, '.svc', 'root.json'), 'utf8')) as { root_id: string }
    for (const [place, words] of [
      [join(config, 'credentials.json'), ['whoami']],
      [join(state, 'rows', 'accounts.json'), ['data', 'list', 'tasks']],
      [join(state, 'rows', own), ['data', 'list', 'tasks']],
      [join(state, 'roots', `${root_id}.json`), ['sync', 'status', root]],
      [join(root, '.svc', 'root.json'), ['sync', root]],
      [join(root, '.svc', 'state.db'), ['sync', root]],
      [join(root, '.svc', 'state.db'), ['sync', 'status', root]],
    ] as const) {
      renameSync(place, `${place}.aside`)
      for (const [reason, make] of [
        ['it is not a regular file', () => execFileSync('mkfifo', ['-m', '600', place])],
        ['it is a folder', () => mkdirSync(place, { mode: 0o700 })],
      ] as const) {
        make()
        const { code, stderr } = await svc([...words, '--profile', profile])
        expect([words, code, stderr]).toEqual([words, 1, `svc: ${place} cannot be used: ${reason}.\n`])
        rmSync(place, { recursive: true })
      }
      renameSync(`${place}.aside`, place)
    }
    expect(await ok(['sync', root, '--profile', profile])).toMatchObject({
      stdout: expect.stringContaining('In sync') as string,
    })
  },
)
