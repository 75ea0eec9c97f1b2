import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import {
  listFileConflicts,
  resolveFileConflict,
  type Choice,
  type FileConflict,
} from '../../../src/client/sync/conflicts.ts'
import { takeLock } from '../../../src/client/sync/state/root-lock.ts'
import { makeBench, NOW, readTree, write, type Bench } from './bench.ts'

// Conflict copies, and how somebody decides about them.

/** A folder in which both sides changed `plan.txt` since they agreed. */
async function conflicting(): Promise<Bench> {
  const bench = await makeBench()
  bench.server.put('/plan.txt', 'first')
  await bench.sync()
  write(bench.root, 'plan.txt', 'mine')
  bench.server.put('/plan.txt', 'theirs')
  expect((await bench.sync()).conflicts).toHaveLength(1)
  return bench
}

const open = ({ root, stateFolder }: Bench): Promise<FileConflict[]> => listFileConflicts(root, stateFolder)

const settle = (bench: Bench, conflict: FileConflict, choice: Choice): Promise<void> =>
  resolveFileConflict(conflict, choice, { stateFolder: bench.stateFolder, clock: { now: () => NOW } })

/** Contents of everything in the trash. */
function trash(root: string): string[] {
  const place = join(root, '.svc', 'trash')
  if (!existsSync(place)) return []
  const entries = readdirSync(place, { recursive: true, withFileTypes: true })
  return entries.filter((each) => each.isFile()).map((each) => readFileSync(join(each.parentPath, each.name), 'utf8'))
}

test('is listed with both sides, the same each time', async () => {
  const bench = await conflicting()
  const [conflict] = await open(bench)
  expect(conflict).toMatchObject({
    root: bench.root,
    at: NOW,
    mine: { kind: 'file', size: 4 },
    theirs: { path: '/plan.txt', kind: 'file', size: 6 },
  })
  expect(conflict!.id).toMatch(/^f[0-9a-f]{6}$/)
  expect(await open(bench)).toEqual([conflict])
  expect(await bench.sync()).toMatchObject({ in_sync: true, conflicts: [] })
  expect(await open(bench)).toEqual([conflict])
})

test('mine takes the name back, and what the server had lies in the trash', async () => {
  const bench = await conflicting()
  await settle(bench, (await open(bench))[0]!, 'mine')
  expect(readTree(bench.root)).toEqual({ '/plan.txt': 'mine' })
  expect(trash(bench.root)).toContain('theirs')
  expect(await open(bench)).toEqual([])
  await bench.sync()
  expect(bench.server.tree()).toEqual({ '/plan.txt': 'mine' })
})

test('theirs stays, and mine lies in the trash', async () => {
  const bench = await conflicting()
  await settle(bench, (await open(bench))[0]!, 'theirs')
  expect(readTree(bench.root)).toEqual({ '/plan.txt': 'theirs' })
  expect(trash(bench.root)).toContain('mine')
  await bench.sync()
  expect(bench.server.tree()).toEqual({ '/plan.txt': 'theirs' })
  expect(await open(bench)).toEqual([])
})

test('both stay where they are, and nothing is said of it any more', async () => {
  const bench = await conflicting()
  const before = readTree(bench.root)
  await settle(bench, (await open(bench))[0]!, 'both')
  expect(readTree(bench.root)).toEqual(before)
  expect(await open(bench)).toEqual([])
  expect(trash(bench.root)).toEqual([])
})

test.each(['renamed', 'removed'])('one whose copy was %s by hand is settled', async (how) => {
  const bench = await conflicting()
  const { mine } = (await open(bench))[0]!
  if (how === 'renamed') renameSync(join(bench.root, mine.path), join(bench.root, 'plan of mine.txt'))
  else rmSync(join(bench.root, mine.path))
  expect(await open(bench)).toEqual([])
  await bench.sync()
  // Also when something has that name again.
  write(bench.root, mine.path.slice(1), 'again')
  expect(await open(bench)).toEqual([])
})

test('mine takes a name that nobody has any more, and an edit of theirs that was not sent lies in the trash', async () => {
  const bench = await conflicting()
  rmSync(join(bench.root, 'plan.txt'))
  expect((await open(bench))[0]!.theirs).toBeNull()
  await settle(bench, (await open(bench))[0]!, 'mine')
  expect(readTree(bench.root)).toEqual({ '/plan.txt': 'mine' })
  await bench.sync()
  await bench.sync()
  expect(Object.values(bench.server.tree())).toContain('mine')

  const other = await conflicting()
  write(other.root, 'plan.txt', 'edited')
  await settle(other, (await open(other))[0]!, 'mine')
  expect(trash(other.root)).toContain('edited')
})

test('a folder that was in the way of a file takes its name back too', async () => {
  const bench = await makeBench()
  write(bench.root, 'thing/inside.txt', 'mine')
  bench.server.put('/thing', 'theirs')
  await bench.sync()
  const [conflict] = await open(bench)
  expect(conflict).toMatchObject({ mine: { kind: 'dir' }, theirs: { kind: 'file' } })
  await settle(bench, conflict!, 'mine')
  expect(readTree(bench.root)).toEqual({ '/thing': null, '/thing/inside.txt': 'mine' })
  expect(trash(bench.root)).toContain('theirs')
  for (let round = 0; round < 3; round += 1) await bench.sync()
  expect(Object.values(readTree(bench.root))).toContain('mine')
  expect(Object.values(bench.server.tree())).toContain('mine')
})

test('nothing is done while a run is at work, or when the copy is gone meanwhile', async () => {
  const bench = await conflicting()
  const [conflict] = await open(bench)
  const letGo = takeLock(join(bench.root, '.svc', 'lock'))
  const before = readTree(bench.root)
  await expect(settle(bench, conflict!, 'mine')).rejects.toMatchObject({ name: 'Held', exitCode: 6 })
  letGo()
  expect(readTree(bench.root)).toEqual(before)
  rmSync(join(bench.root, conflict!.mine.path))
  for (const choice of ['mine', 'theirs'] as const)
    await expect(settle(bench, conflict!, choice)).rejects.toMatchObject({ name: 'Changed' })
  expect(readTree(bench.root)).toEqual({ '/plan.txt': 'theirs' })
})

test('a run that is cut off between noting and renaming leaves nothing in the list', async () => {
  const bench = await makeBench()
  bench.server.put('/plan.txt', 'first')
  await bench.sync()
  write(bench.root, 'plan.txt', 'mine')
  bench.server.put('/plan.txt', 'theirs')
  // Something takes the name of the copy in the last moment: the copy is not made under it.
  const stop = new AbortController()
  bench.server.mischief = (action) => {
    if (action === 'download') stop.abort(new Error('Killed.'))
  }
  await expect(bench.sync({ signal: stop.signal })).rejects.toThrow('Killed.')
  bench.server.mischief = undefined
  await bench.sync()
  const [conflict, ...more] = await open(bench)
  expect(more).toEqual([])
  expect(readFileSync(join(bench.root, conflict!.mine.path), 'utf8')).toBe('mine')
  mkdirSync(join(bench.root, 'kept'))
  renameSync(join(bench.root, conflict!.mine.path), join(bench.root, 'kept/mine.txt'))
  await bench.sync()
  expect(await open(bench)).toEqual([])
})
