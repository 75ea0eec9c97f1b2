import { randomBytes } from 'node:crypto'
import {
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import type { Ended } from '../support/command.ts'
import { explores } from '../support/explores.ts'
import { contents, useSyncCommand, write } from '../support/sync-command.ts'

// The command as it is built, with real servers, real folders, and kills at any moment. Ordinary use stands in scripts/sync.txt.

const command = useSyncCommand()
const { start, svc, ok, folders } = command

test('two folders follow each other through everything that happens to files', async () => {
  const { profile, roots } = await folders(2)
  const [one, other] = roots as [string, string]
  const both = async () => {
    const codes = []
    for (const root of [one, other, one]) codes.push((await svc(['sync', root, '--profile', profile])).code)
    expect(contents(other)).toEqual(contents(one))
    return codes
  }
  for (const name of ['a.txt', 'b.txt', 'c.txt', 'dir/d.txt', 'dir/e.txt', 'kind']) write(one, name, `first ${name}`)
  expect(await both()).toEqual([0, 0, 0])

  write(one, 'a.txt', 'edited in one')
  write(other, 'b.txt', 'edited in the other')
  renameSync(join(one, 'c.txt'), join(one, 'renamed.txt'))
  rmSync(join(other, 'dir/d.txt'))
  rmSync(join(one, 'kind'))
  write(one, 'kind/inside', 'now a folder')
  write(other, 'new/deep/file.txt', 'new')
  mkdirSync(join(other, 'empty'))
  expect(await both()).toEqual([0, 0, 0])
  expect(contents(one)).toEqual({
    'a.txt': 'edited in one',
    'b.txt': 'edited in the other',
    dir: '/',
    'dir/e.txt': 'first dir/e.txt',
    empty: '/',
    kind: '/',
    'kind/inside': 'now a folder',
    new: '/',
    'new/deep': '/',
    'new/deep/file.txt': 'new',
    'renamed.txt': 'first c.txt',
  })

  write(one, 'a.txt', 'mine')
  write(other, 'a.txt', 'theirs')
  expect(await both()).toEqual([0, 3, 0])
  expect(Object.entries(contents(one)).filter(([path]) => path.startsWith('a'))).toEqual([
    [expect.stringMatching(/^a \(conflict .+ \d{4}-\d\d-\d\d [0-9a-f]{8}\)\.txt$/), 'theirs'],
    ['a.txt', 'mine'],
  ])
})

test('a run that must not go on says why and ends with the code for it', async () => {
  const { profile, roots } = await folders(1)
  const [root] = roots as [string]
  for (let at = 0; at < 40; at += 1) write(root, `${at}.txt`, `${at}`)
  await ok(['sync', root, '--profile', profile])
  const before = contents(root)

  for (let at = 0; at < 30; at += 1) rmSync(join(root, `${at}.txt`))
  const braked = await svc(['sync', root, '--profile', profile])
  expect(braked.code).toBe(8)
  expect(braked.stderr).toContain('30 of 40 files on the server would be deleted. Nothing was changed.')
  const shown = await svc(['sync', root, '--profile', profile, '--dry-run', '--json'])
  expect(shown.code).toBe(8)
  expect(
    shown.stdout
      .trim()
      .split('\n')
      .map((line) => (JSON.parse(line) as { event: string }).event)
      .filter((event) => event === 'plan'),
  ).toHaveLength(30)
  for (const [path, content] of Object.entries(before)) write(root, path, content)

  expect((await svc(['sync', root, '--profile', 'nobody'])).code).toBe(4)
  const stranger = await folders(0)
  expect((await svc(['sync', root, '--profile', stranger.profile])).code).toBe(8)
  expect((await svc(['sync', 'init', root, '--profile', stranger.profile, '--adopt'])).code).toBe(8)
  expect((await svc(['sync', join(command.place, 'nowhere'), '--profile', profile])).code).toBe(5)
  expect((await svc(['sync', 'init', join(root, 'inner'), '--profile', profile])).code).toBe(8)

  const moved = `${root}-moved`
  renameSync(root, moved)
  symlinkSync(moved, root)
  expect((await svc(['sync', root, '--profile', profile])).code).toBe(0)
  unlinkSync(root)
  renameSync(moved, root)
  expect((await svc(['sync', root, '--profile', profile])).code).toBe(0)

  const data = join(command.place, 'data-of-a-server')
  mkdirSync(join(data, 'keys'), { recursive: true })
  writeFileSync(join(data, 'keys', 'secret.key'), 'x')
  for (const place of [data, join(data, 'blobs')])
    expect(await svc(['sync', 'init', place, '--profile', profile])).toMatchObject({
      code: 8,
      stderr: expect.stringContaining(`${data} is the data directory of a server`),
    })

  const marker = join(root, '.svc', 'root.json')
  renameSync(marker, `${marker}.away`)
  const gone = await svc(['sync', root, '--profile', profile])
  expect(gone).toMatchObject({ code: 8, stderr: expect.stringContaining('--adopt') })
  renameSync(`${marker}.away`, marker)

  const { root_id } = JSON.parse(readFileSync(marker, 'utf8')) as { root_id: string }
  const registry = join(command.home, '.local/state/svc/roots', `${root_id}.json`)
  const state = join(root, '.svc', 'state.db')
  const files = [marker, registry].map((file) => [file, readFileSync(file, 'utf8')] as const)
  for (const [file, text] of files) writeFileSync(file, text.replace(/"server_id": "\w/, '"server_id": "another'))
  renameSync(state, `${state}.away`)
  expect(await svc(['sync', root, '--profile', profile])).toMatchObject({
    code: 8,
    stderr: expect.stringContaining(`but another server answers now`),
  })
  expect(await svc(['sync', 'init', root, '--profile', profile])).toMatchObject({
    code: 8,
    stderr: expect.stringContaining(`before another server took this address`),
  })
  for (const [file, text] of files) writeFileSync(file, text)
  renameSync(`${state}.away`, state)

  writeFileSync(registry, files[1]![1].slice(1))
  for (const args of [['sync', root], ['sync'], ['sync', '--watch'], ['sync', 'status']])
    expect(await svc([...args, '--profile', profile])).toMatchObject({
      code: 8,
      stderr: expect.stringContaining(`${registry} is damaged. Run svc sync init `),
    })
  expect(await svc(['sync', 'conflicts', '--profile', profile])).toMatchObject({
    stderr: expect.stringContaining(`${registry} is damaged`),
  })
  expect((await svc(['sync', 'init', root, '--profile', profile, '--adopt'])).code).toBe(0)
  expect(readdirSync(join(registry, '..'))).not.toContain(`${root_id}.json`)
  expect((await svc(['sync', root, '--profile', profile])).code).toBe(0)

  const credentials = join(command.home, '.config/svc/credentials.json')
  const text = readFileSync(credentials, 'utf8')
  writeFileSync(credentials, text.replaceAll(command.url, 'http://127.0.0.1:1'))
  expect((await svc(['sync', root, '--profile', profile])).code).toBe(7)
  const status = await svc(['sync', 'status', root])
  expect(status).toMatchObject({
    code: 3,
    stdout: expect.stringMatching(/^Failed {6}.+ ago: Nothing answers at /m) as unknown,
  })
  writeFileSync(credentials, text)

  expect(contents(root)).toEqual(before)
  expect((await svc(['sync', root, '--profile', profile])).code).toBe(0)
  expect((await svc(['sync', 'status', root])).code).toBe(0)
})

test('with its state lost a folder is compared anew, and nothing is deleted', async () => {
  const { profile, roots } = await folders(2)
  const [one, other] = roots as [string, string]
  for (const name of ['a', 'b', 'c']) write(one, name, name)
  for (const root of roots) await ok(['sync', root, '--profile', profile])
  rmSync(join(one, 'a'))
  write(other, 'b', 'edited')
  await ok(['sync', other, '--profile', profile])
  for (const name of readdirSync(join(one, '.svc'))) if (name.startsWith('state.db')) rmSync(join(one, '.svc', name))
  const { code, stderr } = await svc(['sync', one, '--profile', profile])
  expect(stderr).toContain('compared again')
  expect(code).toBe(3)
  await svc(['sync', other, '--profile', profile])
  expect(contents(other)).toEqual(contents(one))
  expect(Object.values(contents(one)).sort()).toEqual(['a', 'b', 'c', 'edited'])
})

/** Begins a run and kills it some milliseconds after it has said that it began; false when it was faster. */
async function kill(args: string[], after: number, signal: NodeJS.Signals): Promise<Ended & { killed: boolean }> {
  const { child, ended } = start([...args, '--json'])
  await new Promise<void>((resolve) => {
    child.stdout.once('data', () => resolve())
    child.once('close', () => resolve())
  })
  await sleep(after)
  const killed = child.kill(signal)
  return { ...(await ended), killed }
}

test.runIf(explores)(
  'killed at any moment, a folder holds whole files only, and the next run finishes the work',
  async () => {
    const { profile, roots } = await folders(2)
    const [one, other] = roots as [string, string]
    const random = () => randomBytes(300).toString('hex')
    for (let at = 0; at < 400; at += 1) write(one, `${at % 20}/${at}.txt`, random())
    write(one, 'big.bin', Buffer.alloc(20_000_000, 'big '))

    for (const after of [20, 80, 150, 250]) await kill(['sync', one, '--profile', profile], after, 'SIGKILL')
    await ok(['sync', one, '--profile', profile])
    const whole = contents(one)

    let kills = 0
    for (const after of [20, 60, 120, 200, 300, 450]) {
      const { code } = await kill(['sync', other, '--profile', profile], after, 'SIGKILL')
      if (code === null) kills += 1
      const broken = Object.entries(contents(other)).filter(([path, content]) => content !== whole[path])
      expect(broken.map(([path]) => path)).toEqual([])
    }
    expect(kills).toBeGreaterThan(1)
    await ok(['sync', other, '--profile', profile])
    expect(contents(other)).toEqual(whole)
    expect(readdirSync(join(other, '.svc', 'tmp'))).toEqual([])

    // Edits and deletions on both sides, with kills while they travel.
    for (let at = 0; at < 400; at += 1) {
      if (at % 5 === 0) rmSync(join(one, `${at % 20}/${at}.txt`))
      else if (at % 5 === 1) write(one, `${at % 20}/${at}.txt`, `one ${random()}`)
      else if (at % 5 === 2) write(other, `${at % 20}/${at}.txt`, `other ${random()}`)
    }
    const wanted = { ...whole, ...contents(one) }
    for (const [path, content] of Object.entries(contents(other)))
      if (content.startsWith('other')) wanted[path] = content
    for (let at = 0; at < 400; at += 5) delete wanted[`${at % 20}/${at}.txt`]
    for (const after of [30, 100, 200, 350]) {
      for (const root of roots) await kill(['sync', root, '--profile', profile], after, 'SIGKILL')
    }
    for (const root of [one, other, one]) await ok(['sync', root, '--profile', profile])
    expect(contents(one)).toEqual(wanted)
    expect(contents(other)).toEqual(wanted)
  },
)

test('Ctrl-C ends a run in order: code 130, no lock left, and the next one goes on', async () => {
  const { profile, roots } = await folders(1)
  const [root] = roots as [string]
  for (let at = 0; at < 400; at += 1) write(root, `${at}.txt`, `${at}`)
  const { code, stderr, killed } = await kill(['sync', root, '--profile', profile], 50, 'SIGINT')
  expect(killed).toBe(true)
  expect(code).toBe(130)
  expect(stderr).toContain('Interrupted')
  expect(readdirSync(join(root, '.svc'))).not.toContain('lock')
  expect((await svc(['sync', root, '--profile', profile])).code).toBe(0)
})

test('a run with --retry survives an outage, and is quiet with --quiet', async () => {
  const { profile, roots } = await folders(1)
  const [root] = roots as [string]
  write(root, 'a.txt', 'a')
  await ok(['maintenance', 'on'])
  expect(await svc(['sync', root, '--profile', profile])).toMatchObject({ code: 7 })
  const { child, ended } = start(['sync', root, '--profile', profile, '--retry', '5m'])
  const said = await new Promise((resolve) => child.stderr!.once('data', (text) => resolve(String(text))))
  expect(said).toMatch(/ Trying again until \d{4}-\d\d-\d\d \d\d:\d\d\.$/m)
  await ok(['maintenance', 'off'])
  expect(await ended).toMatchObject({ code: 0, stdout: expect.stringContaining('In sync: uploaded 1 file') as unknown })
  symlinkSync('/nowhere', join(root, 'link'))
  const quiet = ['sync', root, '--profile', profile, '--quiet']
  expect(await svc(quiet)).toEqual({ code: 3, stdout: '', stderr: '' })
  expect(await svc(quiet)).toEqual({ code: 0, stdout: '', stderr: '' })
  expect(await svc(['sync', 'status', root])).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('Left out    1 link or special file; --json lists them') as unknown,
  })
})

test('while one run is at work another one says so', async () => {
  const { profile, roots } = await folders(1)
  const [root] = roots as [string]
  for (let at = 0; at < 400; at += 1) write(root, `${at}.txt`, `${at}`)
  const { child, ended } = start(['sync', root, '--profile', profile, '--json'])
  await new Promise<void>((resolve) => child.stdout.once('data', () => resolve()))
  // However fast it is, it does not end while the others look.
  child.kill('SIGSTOP')
  const [second, status] = await Promise.all([
    svc(['sync', root, '--profile', profile]),
    svc(['sync', 'status', root, '--json']),
  ])
  expect(second).toMatchObject({ code: 6, stderr: expect.stringContaining('Another run') })
  expect(JSON.parse(status.stdout)).toMatchObject({ running: true })
  child.kill('SIGCONT')
  expect((await ended).code).toBe(0)
})
