import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile, writeFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { syncFiles } from '../../src/contract/sync-files.ts'
import { runCommandWith } from '../support/command.ts'
import { explores } from '../support/explores.ts'
import { folderOfTest, serverOfTest } from '../support/server.ts'

// What `svc rewind` says and refuses, as the built command.

interface Rewound {
  undo: string
  saved: { id: string; place: string; encrypted: boolean }
}

async function scene() {
  const server = await serverOfTest()
  const ada = await server.account({ username: 'ada' })
  const place = await folderOfTest()
  const backups = join(place, 'backups')
  const svc = (...args: string[]) =>
    runCommandWith({ HOME: server.dataDir, SVC_DATA_DIR: server.dataDir, ...server.env }, ...args)
  const ok = async (...args: string[]): Promise<string> => {
    const { code, stdout, stderr } = await svc(...args)
    expect([code, stderr]).toEqual([0, expect.any(String)])
    return stdout
  }
  const backup = async (...args: string[]): Promise<string> =>
    (JSON.parse(await ok('backup', 'create', '--to', backups, '--json', ...args)) as { id: string }).id
  const rewind = (...args: string[]) => svc('rewind', '--user', 'ada', '--from', backups, ...args)
  const text = async (path: string): Promise<string> => (await ada.download(path)).bytes.toString()
  return { server, ada, place, backups, svc, ok, backup, rewind, text }
}

const wordsOf = (line: string): string[] => line.split(' ').slice(1)

const isEncrypted = async (folder: string): Promise<boolean> =>
  (JSON.parse(await readFile(join(folder, 'svc-backup.json'), 'utf8')) as { encrypted: boolean }).encrypted

test('the present state is encrypted like the backups that are rewound to', async () => {
  const { ada, place, ok, backup, rewind, text } = await scene()
  const secret = join(place, 'secret.txt')
  await writeFile(secret, 'correct horse battery staple\n')
  await ada.put('/letter.txt', 'Dear Charles')
  const id = await backup('--encrypt', '--passphrase-file', secret)
  await ada.put('/letter.txt', 'ruined')

  // The key is kept: nothing asks for the passphrase, and the new folder opens with it all the same.
  const fresh = join(place, 'fresh')
  const first = JSON.parse((await rewind('--to', id, '--apply', '--save-to', fresh, '--json')).stdout) as Rewound
  expect(first.saved).toMatchObject({ place: fresh, encrypted: true })
  expect([await isEncrypted(fresh), await text('/letter.txt')]).toEqual([true, 'Dear Charles'])
  await ok('backup', 'verify', '--from', fresh, '--passphrase-file', secret)
  await ok(...wordsOf(first.undo))
  expect(await text('/letter.txt')).toBe('ruined')

  const plain = join(place, 'plain')
  await ok('backup', 'create', '--to', plain)
  const refused = await rewind('--to', id, '--apply', '--save-to', plain)
  expect(refused).toMatchObject({ code: 6, stderr: expect.stringContaining('add --no-encrypt') as string })
  expect(await text('/letter.txt')).toBe('ruined')
  const open = await rewind('--to', id, '--apply', '--save-to', plain, '--no-encrypt', '--json')
  expect([open.code, (JSON.parse(open.stdout) as Rewound).saved.encrypted]).toEqual([0, false])
})

// Passphrases take a second each.
test.runIf(explores)('an encrypted archive gives its passphrase to a new folder of the present state', async () => {
  const { ada, place, svc, ok, text } = await scene()
  const secret = join(place, 'secret.txt')
  await writeFile(secret, 'correct horse battery staple\n')
  await ada.put('/letter.txt', 'Dear Charles')
  const archive = join(place, 'one.tar.age')
  await ok('backup', 'create', '--to', archive, '--passphrase-file', secret)
  await ada.put('/letter.txt', 'ruined again')
  const beside = join(place, 'beside')
  const given = ['--to', archive, '--passphrase-file', secret, '--apply']
  expect(await svc('rewind', '--user', 'ada', ...given, '--save-to', 'two.tar')).toMatchObject({ code: 2 })
  const last = await svc('rewind', '--user', 'ada', ...given, '--save-to', beside, '--json')
  expect([last.code, await isEncrypted(beside)]).toEqual([0, true])
  const { undo } = JSON.parse(last.stdout) as Rewound
  expect(undo).toContain(`--passphrase-file ${secret}`)
  await ok(...wordsOf(undo))
  expect(await text('/letter.txt')).toBe('ruined again')
})

test('one process at a time rewinds an account, and a killed one holds nothing', async () => {
  const { server, ada, place, ok, backups, backup, rewind } = await scene()
  const secret = join(place, 'secret.txt')
  await writeFile(secret, 'correct horse battery staple\n')
  await ada.push({ table: 'svc_notes', operation: 'INSERT', data: { title: 'once' } })
  const id = await backup('--encrypt', '--passphrase-file', secret)
  await ada.push({ table: 'svc_notes', operation: 'DELETE', data: { id: 1 } })

  // It has the lock and waits for the passphrase.
  const words = ['rewind', '--user', 'ada', '--to', id, '--from', backups, '--apply', '--passphrase-stdin']
  const program = fileURLToPath(new URL('../../bin/svc.js', import.meta.url))
  const env = { ...process.env, HOME: server.dataDir, SVC_DATA_DIR: server.dataDir, ...server.env }
  const waiting = spawn(process.execPath, [program, ...words], { env, stdio: ['pipe', 'ignore', 'ignore'] })
  const isOver = once(waiting, 'close')
  try {
    await expect.poll(() => server.local.domain.rewind.history('ada').then(() => 'free', String)).toContain('process')
    for (const more of [[], ['--apply']])
      expect(await rewind('--to', id, ...more)).toMatchObject({
        code: 6,
        stdout: '',
        stderr: `svc: ada is being rewound by process ${waiting.pid} on ${hostname()}. Wait until it has ended, and run this again.\n`,
      })
  } finally {
    waiting.kill('SIGKILL')
    await isOver
  }
  expect((await rewind('--to', id, '--apply')).code).toBe(0)
  expect((await ada.everything()).data['svc_notes']).toHaveLength(1)
  expect((await rewind('--to', id, '--apply')).stdout).toContain('are the present ones')
  expect(await ok('backup', 'list', '--from', backups)).toContain(id)
})

test('after an interruption, the commands that complete and undo are named, and latest is refused', async () => {
  const { server, ada, svc, backups, backup, rewind, text } = await scene()
  await ada.put('/one.txt', 'one')
  await ada.put('/two.txt', 'two')
  const id = await backup()
  await ada.put('/one.txt', 'ruined one')
  await ada.put('/two.txt', 'ruined two')
  const before = await backup()

  const interrupt = async (): Promise<void> => {
    server.clock.pass(Date.now() - server.clock.now())
    const lock = await server.local.domain.rewind.lock('ada')
    const base = ['rewind', '--user', 'ada', '--from', backups, '--apply']
    const [complete, undo] = [
      [...base, '--to', id],
      [...base, '--to', before],
    ]
    const [moment, saved] = ['2026-11-26T14:05:00.000Z', { id: before, place: backups, encrypted: false }]
    await lock.begin({ moment, saved, complete, undo }, { id: before, place: backups, moment, undo })
    await ada.put('/one.txt', 'one')
    await lock.release()
  }
  await interrupt()
  const told = `A rewind of ada to 2026-11-26 14:05:00, which began at …, was interrupted. To complete it: svc rewind --user ada --from ${backups} --apply --to ${id}. To undo it: svc rewind --user ada --from ${backups} --apply --to ${before}.`
  const withoutTime = (line: string) => line.replace(/(began at )[\d: -]+\d/, '$1…')
  const shown = await rewind('--to', id)
  expect([shown.code, withoutTime(shown.stderr)]).toEqual([0, expect.stringContaining(told)])
  for (const more of [[], ['--apply']]) {
    const refused = await rewind('--to', 'latest', ...more)
    expect([refused.code, refused.stdout, withoutTime(refused.stderr)]).toEqual([6, '', expect.stringContaining(told)])
  }

  // The command that completes names the state before the first attempt as the one to return to.
  const done = await rewind('--to', id, '--apply', '--json')
  const { undo, saved } = JSON.parse(done.stdout) as Rewound
  expect([done.code, saved.id, await text('/two.txt')]).toEqual([0, before, 'two'])
  expect(await rewind('--to', id)).toMatchObject({ code: 0, stderr: '' })
  expect((await svc(...wordsOf(undo))).code).toBe(0)
  expect([await text('/one.txt'), await text('/two.txt')]).toEqual(['ruined one', 'ruined two'])

  // So does the command that undoes, and it ends the interruption too.
  await interrupt()
  expect(await svc(...wordsOf(undo))).toMatchObject({
    code: 0,
    stdout: expect.stringContaining(`--to ${id}`) as string,
  })
  expect([await text('/one.txt'), await text('/two.txt')]).toEqual(['ruined one', 'ruined two'])
  expect((await rewind('--to', id)).stderr).toBe('')
})

test('latest is refused where it is the state before a rewind', async () => {
  const { ada, backup, rewind, text } = await scene()
  await ada.put('/letter.txt', 'Dear Charles')
  const id = await backup()
  await ada.put('/letter.txt', 'ruined')
  expect((await rewind('--to', id, '--apply')).code).toBe(0)
  for (const more of [[], ['--apply']]) {
    const refused = await rewind('--to', 'latest', ...more)
    expect(refused).toMatchObject({
      code: 8,
      stderr: expect.stringMatching(/To undo that rewind: svc rewind/) as string,
    })
  }
  expect(await text('/letter.txt')).toBe('Dear Charles')
  await backup()
  expect((await rewind('--to', 'latest')).code).toBe(0)
})

test('a moment is one that exists, in a form that is told', async () => {
  const { ada, backup, rewind } = await scene()
  await ada.put('/letter.txt', 'Dear Charles')
  const id = await backup()
  const forms = expect.stringContaining('Give a time such as 14:05, 14:05:07') as string
  for (const to of ['', ' ', 'now', 'yesterday', '26.11.2026 17:50', '2', id.slice(0, 7), 'soon'])
    expect([to, await rewind('--to', to)]).toMatchObject([to, { code: 2, stdout: '', stderr: forms }])
  for (const to of ['25:00', '17:61', '2026-02-30', '2026-02-30 10:00', 'yesterday 24:00'])
    expect([to, await rewind('--to', to)]).toMatchObject([
      to,
      { code: 2, stderr: expect.stringContaining(`There is no such time as "${to}".`) as string },
    ])
  for (const to of ['10 minutes ago', '1 h ago', '17:53:01.123', 'yesterday 17:53'])
    expect([to, await rewind('--to', to)]).toMatchObject([
      to,
      { code: 5, stderr: expect.stringContaining('There is no stream') as string },
    ])
  expect((await rewind('--to', id.slice(0, 8))).code).toBe(0)
})

test('a rewind names what it moves to the trash, what clients do then, and where else the present state can go', async () => {
  const { ada, place, svc, backup, rewind } = await scene()
  await ada.put('/letter.txt', 'Dear Charles')
  const id = await backup()
  for (let number = 0; number < 30; number += 1)
    await ada.put(`/locked/${String(number).padStart(2, '0')}.jpg`, 'encrypted')
  const shown = await rewind('--to', id, '--temp', place)
  expect(shown.stdout).toMatch(/30 files and 1 folder moved to the trash\n {4}\/locked\/\n {4}\/locked\/00\.jpg\n/)
  expect(shown.stdout).toMatch(/… and 11 more \(--json lists all\)\n/)
  expect(shown.stdout).toMatch(/^Next: .* --temp \S+ --apply$/m)
  expect(await rewind('--to', id, '--apply', '--save-to', '/dev/null/backups')).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/Nothing was changed\. Give another folder for it: --save-to DIR\./) as string,
  })
  const done = await rewind('--to', id, '--apply')
  expect([done.code, done.stdout]).toEqual([0, expect.stringContaining('svc sync --force-delete')])
  expect(await svc('rewind', '--user', 'ada', '--to', id, '--from', join(place, 'missing'))).toMatchObject({
    code: 5,
    stderr: expect.stringContaining('Is the disk mounted?') as string,
  })
  const unsaid = await svc('rewind', '--user', 'ada', '--to', id, '--json')
  expect([unsaid.code, unsaid.stderr + unsaid.stdout]).toEqual([2, expect.stringContaining('"code":"usage"')])
})

test('a rewind that is killed after its first change is completed or undone by the commands that are named', async () => {
  const { server, ada, ok, backups, backup, rewind } = await scene()
  const paths = Array.from({ length: 40 }, (_, number) => `/photos/${String(number).padStart(2, '0')}.jpg`)
  for (const [index, path] of paths.entries()) await ada.put(path, `${index}`.padEnd(100_000, '.'))
  const id = await backup()
  for (const path of paths) await ada.ask(syncFiles.actions.delete, { path })
  await ada.put('/newer.txt', 'newer')
  const isRestored = async (path: string): Promise<boolean> => (await ada.download(path)).status === 200
  const restored = async (): Promise<number> => (await Promise.all(paths.map(isRestored))).filter(Boolean).length

  // The contents are large, so that each file is a change of its own.
  const program = fileURLToPath(new URL('../../bin/svc.js', import.meta.url))
  const env = { ...process.env, HOME: server.dataDir, SVC_DATA_DIR: server.dataDir, ...server.env }
  const words = ['rewind', '--user', 'ada', '--to', id, '--from', backups, '--apply']
  const child = spawn(process.execPath, [program, ...words], { env, stdio: 'ignore' })
  const isOver = once(child, 'close')
  while (child.exitCode === null && (await isRestored('/newer.txt'))) await new Promise(setImmediate)
  child.kill('SIGKILL')
  await isOver
  expect([child.signalCode, await isRestored('/newer.txt')]).toEqual(['SIGKILL', false])
  expect(await restored()).toBeLessThan(paths.length)

  const shown = await rewind('--to', id)
  const [, complete, undo] = /To complete it: (svc .+)\. To undo it: (svc .+)\.\n/.exec(shown.stderr) ?? []
  expect([shown.code, complete, undo]).toEqual([0, expect.any(String), expect.any(String)])

  // What the interruption left is no state to return to.
  const left = await backup()
  for (const more of [[], ['--apply']])
    expect(await rewind('--to', left, ...more)).toMatchObject({
      code: 6,
      stdout: '',
      stderr: expect.stringContaining(
        'A state after its beginning is incomplete too and is refused until then',
      ) as string,
    })

  await ok(...wordsOf(complete!))
  expect([await restored(), await isRestored('/newer.txt')]).toEqual([paths.length, false])
  expect((await rewind('--to', left)).code).toBe(0)
  await ok(...wordsOf(undo!))
  expect([await restored(), await isRestored('/newer.txt')]).toEqual([0, true])
})
