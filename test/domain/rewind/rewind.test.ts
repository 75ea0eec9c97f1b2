import { readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { MINUTE } from '../../../src/base/clock.ts'
import { syncFiles } from '../../../src/contract/sync-files.ts'
import { trash as trashActions } from '../../../src/contract/trash.ts'
import { channelOf, say } from '../../support/chat.ts'
import type { Account } from '../../support/account.ts'
import { runCommandWith } from '../../support/command.ts'
import { bytesOf } from '../../support/contents.ts'
import { folderOfTest, serverOfTest } from '../../support/server.ts'
import { ownIdentity } from '../../../src/host/process-identity.ts'
import { rewindHolder } from '../../../src/storage/instance/rewind-records.ts'
import { backupSource } from '../../../src/wiring/backups/backup-locations.ts'

// Accounts that are rewound by the built command while a server runs.

const noPassphrase = { chosen: () => Promise.reject(new Error('none')), known: () => Promise.reject(new Error('none')) }

interface Rewound {
  applied: boolean
  undo: string
  saved: { id: string; place: string }
  files: Record<'restored' | 'replaced' | 'removed', string[]>
  rows: Record<string, Record<'restored' | 'replaced' | 'removed', number>>
  failures: { what: string; why: string }[]
}

async function scene() {
  const server = await serverOfTest()
  const [ada, bob] = [await server.account({ username: 'ada' }), await server.account({ username: 'bob' })]
  const to = await folderOfTest()
  const svc = (...args: string[]) =>
    runCommandWith({ HOME: server.dataDir, SVC_DATA_DIR: server.dataDir, ...server.env }, ...args)
  const backup = async (...args: string[]): Promise<string> => {
    const { code, stdout, stderr } = await svc('backup', 'create', '--to', join(to, 'backups'), '--json', ...args)
    expect([code, stderr]).toEqual([0, ''])
    return (JSON.parse(stdout) as { id: string }).id
  }
  const rewind = (...args: string[]) => svc('rewind', '--user', 'ada', '--from', join(to, 'backups'), ...args)
  const rewound = async (code: number, ...args: string[]): Promise<Rewound> => {
    const result = await rewind('--json', ...args)
    expect([result.code, result.stderr]).toEqual([code, expect.any(String)])
    return JSON.parse(result.stdout) as Rewound
  }
  return { server, ada, bob, to: join(to, 'backups'), svc, backup, rewind, rewound }
}

/** What the owner sees: files with their hashes, folders, and rows without what the server adds. */
async function visible(account: Account) {
  const { files, directories } = await account.manifest()
  const { data } = await account.everything()
  const rows = Object.entries(data).flatMap(([table, all]) =>
    table === 'svc_files' || table === 'svc_rooms' || table === 'svc_messages'
      ? []
      : all.map(({ id: _, version: __, updated_at: ___, ...values }) => JSON.stringify([table, values])),
  )
  return {
    files: files.map(({ path, sha256 }) => `${path} ${sha256}`).sort(),
    directories: [...directories].sort(),
    rows: rows.sort(),
  }
}

const insert = (table: string, data: object) => ({ table, operation: 'INSERT' as const, data })

async function furnish(account: Account): Promise<number[]> {
  await account.put('/Photos/cat.jpg', bytesOf(100_000, 1))
  await account.put('/Photos/dog.jpg', bytesOf(200_000, 2))
  await account.put('/letters/june.txt', 'Dear Charles')
  await account.put('/thing', 'a file')
  await account.ask(syncFiles.actions.mkdir, { path: '/Empty/inside' })
  const { results } = await account.push(
    insert('svc_notes', { title: 'stays', content: 'as it is' }),
    insert('svc_notes', { title: 'is edited', content: 'before' }),
    insert('svc_notes', { title: 'is removed', pinned: true }),
    insert('svc_events', { title: 'Demonstration', starts_at: '2026-11-21T12:00:00.000Z', exdates: [] }),
  )
  return results.map(({ id }) => id!)
}

async function ruin(account: Account, [, edited, removed]: number[]): Promise<void> {
  await account.put('/Photos/cat.jpg', 'encrypted')
  await account.ask(syncFiles.actions.delete, { path: '/Photos/dog.jpg' })
  await account.ask(syncFiles.actions.delete, { path: '/Empty' })
  await account.ask(syncFiles.actions.move, { from: '/letters', to: '/Letters of a year' })
  await account.ask(syncFiles.actions.delete, { path: '/thing' })
  await account.put('/thing/inside.txt', 'now a folder')
  await account.put('/Photos/README.txt', 'Pay')
  await account.push(
    { table: 'svc_notes', operation: 'UPDATE', data: { id: edited!, content: 'after', color: 'red' } },
    { table: 'svc_notes', operation: 'DELETE', data: { id: removed! } },
    insert('svc_tasks', { title: 'Pay' }),
  )
}

test('an account returns to a backup and back again, in changes that its clients receive', async () => {
  const { server, ada, bob, svc, backup, rewind, rewound } = await scene()
  const rows = await furnish(ada)
  await furnish(bob)
  const room = await channelOf(ada, bob)
  await say(ada, room, 'Good morning')
  const before = await visible(ada)
  const id = await backup()
  await ruin(ada, rows)
  await bob.put('/later.txt', 'of bob')
  await say(bob, room, 'Good night')
  const [after, ofBob] = [await visible(ada), await visible(bob)]
  const { cursor } = await ada.everything()
  const cursorOfBob = (await bob.everything()).cursor

  const shown = await rewind('--to', id)
  expect([shown.code, shown.stderr]).toEqual([0, ''])
  expect(shown.stdout).toContain('Nothing was changed.')
  expect(await visible(ada)).toEqual(after)

  const done = await rewound(0, '--to', id, '--apply')
  expect(done).toMatchObject({
    applied: true,
    files: {
      restored: ['/Empty/', '/Empty/inside/', '/Photos/dog.jpg', '/letters/', '/letters/june.txt', '/thing'],
      replaced: ['/Photos/cat.jpg'],
      removed: ['/Letters of a year/', '/Photos/README.txt', '/thing/'],
    },
    rows: {
      svc_notes: { restored: 1, replaced: 1, removed: 0 },
      svc_tasks: { restored: 0, replaced: 0, removed: 1 },
    },
    failures: [],
  })
  expect(await visible(ada)).toEqual(before)
  expect(await visible(bob)).toEqual(ofBob)
  expect((await bob.delta(cursorOfBob)).changes).toEqual([])
  const { changes } = await ada.delta(cursor)
  expect(changes.filter(({ table }) => table === 'svc_notes').map(({ operation }) => operation)).toEqual([
    'UPDATE',
    'INSERT',
  ])
  expect(changes.every((change) => change.cursor > cursor)).toBe(true)
  const trash = await ada.ask(trashActions.actions.list, {})
  expect(JSON.stringify(trash)).toContain('/Photos/README.txt')

  expect(await rewound(0, '--to', id)).toMatchObject({ applied: false, rows: {} })
  const undo = await svc(...wordsOf(done.undo))
  expect([undo.code, undo.stderr]).toEqual([0, expect.stringContaining('is saved as backup')])
  expect(await visible(ada)).toEqual(after)
  await rewound(0, '--to', id, '--apply')
  expect(await visible(ada)).toEqual(before)
  const { stdout } = await svc('audit', '--user', 'ada', '--json')
  expect(stdout).toContain('user.rewound')
  expect((await svc('storage', 'check')).code).toBe(0)
  expect(server.local.config.dataDir).toBe(server.dataDir)
})

/** The words of a printed command line without quotes. */
const wordsOf = (line: string): string[] => line.split(' ').slice(1)

test('what the backup lost stays as it is and is named, and is repaired where the server still has it', async () => {
  const { server, ada, to, backup, rewind, rewound } = await scene()
  await ada.put('/cat.jpg', bytesOf(100_000, 1))
  await ada.put('/dog.jpg', bytesOf(100_000, 2))
  const sha256 = (await ada.manifest()).files.find(({ path }) => path === '/dog.jpg')!.sha256
  const id = await backup()
  await ada.put('/cat.jpg', 'encrypted')
  await ada.put('/dog.jpg', 'encrypted')
  const names = await readdir(to, { recursive: true })
  await writeFile(
    join(
      to,
      names.find((name) => name.endsWith(sha256))!,
    ),
    'damaged',
  )
  const elsewhere = join(server.dataDir, 'elsewhere')
  const { failures, saved } = await rewound(3, '--to', id, '--apply', '--save-to', elsewhere)
  expect(saved.place).toBe(elsewhere)
  expect(failures).toEqual([{ what: '/dog.jpg', why: expect.stringContaining(sha256) as string }])
  expect((await ada.download('/dog.jpg')).bytes.toString()).toBe('encrypted')
  expect((await ada.download('/cat.jpg')).bytes.equals(bytesOf(100_000, 1))).toBe(true)
  expect(await rewind('--to', id, '--apply')).toMatchObject({
    code: 0,
    stderr: expect.stringContaining('damaged or missing object') as string,
  })
  expect((await ada.download('/dog.jpg')).bytes.equals(bytesOf(100_000, 2))).toBe(true)
})

/** A comparison of ada with a backup, so that a test can change something before it is applied. */
async function comparisonWith({ server, to }: Awaited<ReturnType<typeof scene>>, id: string) {
  const source = await backupSource(id, { from: to, dataDir: server.dataDir, env: server.env }, noPassphrase)
  const past = { source, manifest: await source.manifest(id), scratch: await folderOfTest() }
  const plan = await server.local.domain.rewind.plan('ada', past)
  return {
    async execute() {
      const lock = await server.local.domain.rewind.lock('ada')
      const failures = await plan.execute({}, lock)
      await lock.release()
      await plan.close()
      await source.close()
      return failures
    },
  }
}

test('what somebody changes after the comparison stays as it is and is named', async () => {
  const place = await scene()
  const { ada, backup } = place
  const [kept, edited] = await furnish(ada)
  const id = await backup()
  await ruin(ada, [kept!, edited!, 3])
  const rewinding = await comparisonWith(place, id)
  await ada.put('/Photos/cat.jpg', 'by hand')
  await ada.put('/Photos/README.txt', 'by hand')
  await ada.put('/Photos/dog.jpg', 'by hand')
  await ada.push({ table: 'svc_notes', operation: 'UPDATE', data: { id: edited!, content: 'by hand' } })
  const failures = await rewinding.execute()
  expect(failures.map(({ what }) => what).sort()).toEqual(
    ['/Photos/README.txt', '/Photos/cat.jpg', '/Photos/dog.jpg', `svc_notes ${edited}`].sort(),
  )
  for (const name of ['cat.jpg', 'dog.jpg', 'README.txt'])
    expect((await ada.download(`/Photos/${name}`)).bytes.toString()).toBe('by hand')
  expect((await ada.everything()).data['svc_notes']!.find((row) => row.id === edited)!['content']).toBe('by hand')
  expect((await ada.download('/letters/june.txt')).bytes.toString()).toBe('Dear Charles')
})

test('what somebody puts into a folder that is removed, or changes inside it, stays there with its folders', async () => {
  const place = await scene()
  const { ada, backup } = place
  await ada.put('/stays.txt', 'as it is')
  const id = await backup()
  for (const path of ['/New/same.txt', '/New/edited/draft.txt', '/New/filled/deep/same.txt', '/New/gone/same.txt'])
    await ada.put(path, 'before the comparison')
  await ada.ask(syncFiles.actions.mkdir, { path: '/New/empty/inside' })
  const rewinding = await comparisonWith(place, id)
  await ada.put('/New/edited/draft.txt', 'by hand')
  await ada.put('/New/filled/deep/arrived.txt', 'by hand')
  await ada.ask(syncFiles.actions.delete, { path: '/New/gone/same.txt' })
  const failures = await rewinding.execute()
  expect(failures.map(({ what }) => what)).toEqual([
    '/New/edited/draft.txt',
    '/New/filled/deep',
    '/New/filled',
    '/New/edited',
    '/New',
  ])
  const { files, directories } = await visible(ada)
  expect(files.map((line) => line.split(' ')[0])).toEqual([
    '/New/edited/draft.txt',
    '/New/filled/deep/arrived.txt',
    '/stays.txt',
  ])
  expect(directories).toEqual(['/New', '/New/edited', '/New/filled', '/New/filled/deep'])
})

test('the lock of a process elsewhere counts while it is renewed, also of one with the same host name', () => {
  const heldBy = (holder: object, age: number) =>
    rewindHolder({ created_at: 0, saves: [], lock: { ...ownIdentity(), touched_at: 0, ...holder } }, age)
  const dead = { pid: 2 ** 22 - 1 }
  expect(heldBy({}, 20 * MINUTE)).toBeDefined()
  expect(heldBy(dead, 0)).toBeUndefined()
  for (const elsewhere of [
    { ...dead, scope: 'a container' },
    { ...dead, scope: undefined },
  ]) {
    expect(heldBy(elsewhere, 9 * MINUTE)).toBeDefined()
    expect(heldBy(elsewhere, 11 * MINUTE)).toBeUndefined()
  }
})

test('an account is rewound within its quota only, and whatever the order of its files', async () => {
  const { server, ada, svc, backup, rewind, rewound } = await scene()
  await ada.put('/one', bytesOf(900_000, 1))
  await ada.put('/two', bytesOf(10_000, 2))
  const before = await visible(ada)
  const id = await backup()
  await ada.put('/one', bytesOf(10_000, 3))
  await ada.put('/two', bytesOf(900_000, 4))
  await svc('quota', 'set', 'ada', '500KB')
  const refused = await rewind('--to', id, '--apply')
  expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('svc quota set ada') as string })
  expect(refused.stderr).toMatch(
    /svc quota set ada \d+, and afterwards the present quota again: svc quota set ada 512000\./,
  )
  await svc('quota', 'set', 'ada', '1MB')
  await rewound(0, '--to', id, '--apply')
  expect(await visible(ada)).toEqual(before)
  expect((await server.local.domain.accounts.details('ada')).effective_quota).toBe(1_048_576)
  // Over its quota, but nothing is added.
  await ada.put('/three', bytesOf(1_000, 5))
  await svc('quota', 'set', 'ada', '1KB')
  await rewound(0, '--to', id, '--apply')
  expect(await visible(ada)).toEqual(before)
})

test('only the same account of the same server is rewound', async () => {
  const { server, ada, svc, to, backup, rewind } = await scene()
  await ada.put('/secret.txt', 'of the first ada')
  const id = await backup()
  expect(await svc('rewind', '--user', 'nobody', '--to', id, '--from', to)).toMatchObject({
    code: 5,
    stderr: expect.stringContaining('svc help wrong-deletion') as string,
  })
  await svc('user', 'add', 'carl', '--generate')
  expect(await svc('rewind', '--user', 'carl', '--to', id, '--from', to)).toMatchObject({
    code: 5,
    stderr: expect.stringContaining('There was no account "carl"') as string,
  })
  await svc('user', 'remove', 'ada', '--yes')
  await svc('user', 'add', 'ada', '--generate')
  expect(await rewind('--to', id, '--apply')).toMatchObject({
    code: 8,
    stderr: expect.stringContaining('was another one') as string,
  })
  expect(await rewind()).toMatchObject({ code: 2 })
  expect(await rewind('--to', '2099-01-01 13:00')).toMatchObject({
    code: 5,
    stderr: expect.stringContaining('backup before that moment is of') as string,
  })
  const other = await serverOfTest()
  const foreign = { HOME: other.dataDir, SVC_DATA_DIR: other.dataDir, ...other.env }
  await other.account({ username: 'ada' })
  const words = ['rewind', '--user', 'ada', '--to', id, '--from', to, '--apply']
  expect(await runCommandWith(foreign, ...words)).toMatchObject({ code: 8 })
  expect(await server.local.domain.accounts.list()).toHaveLength(4)
})
