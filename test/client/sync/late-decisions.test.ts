import type * as fs from 'node:fs'
import { existsSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, test, vi } from 'vitest'
import { listFileConflicts, resolveFileConflict, type Choice } from '../../../src/client/sync/conflicts.ts'
import { makeBench, NOW, readTree, write } from './bench.ts'

// What a program writes into a file in the moment in which a decision about a conflict takes that file away.

/** Done once, just before the next renaming; what it answers is done just after that. */
let meanwhile: ((from: string) => void | (() => void)) | undefined
afterEach(() => (meanwhile = undefined))

vi.mock('node:fs', async (original) => {
  const real = await original<typeof fs>()
  const rename: typeof fs.renameSync = (from, to) => {
    const act = meanwhile
    meanwhile = undefined
    const then = act?.(String(from))
    real.renameSync(from, to)
    then?.()
  }
  return { ...real, renameSync: rename }
})

/** A folder in which both sides changed `plan.txt`, and what decides about it. */
async function conflicting() {
  const bench = await makeBench()
  bench.server.put('/plan.txt', 'first')
  await bench.sync()
  write(bench.root, 'plan.txt', 'mine')
  bench.server.put('/plan.txt', 'theirs')
  await bench.sync()
  const open = () => listFileConflicts(bench.root, bench.stateFolder)
  const [conflict] = await open()
  const settle = (choice: Choice) =>
    resolveFileConflict(conflict!, choice, { stateFolder: bench.stateFolder, clock: { now: () => NOW } })
  return { ...bench, open, settle, copy: conflict!.mine.path }
}

/** Names of the files in the trash. */
const thrownAway = (root: string): string[] => {
  const trash = join(root, '.svc', 'trash')
  if (!existsSync(trash)) return []
  const entries = readdirSync(trash, { recursive: true, withFileTypes: true })
  return entries.filter((each) => each.isFile()).map(({ name }) => name)
}

test('an edit of the copy goes back to its place, and the conflict stays', async () => {
  const { root, open, settle, copy } = await conflicting()
  meanwhile = (from) => writeFileSync(from, 'mine, at the last moment')
  await expect(settle('theirs')).rejects.toMatchObject({ name: 'Changed' })
  expect(readTree(root)).toEqual({ '/plan.txt': 'theirs', [copy]: 'mine, at the last moment' })
  expect(thrownAway(root)).not.toContain(copy.slice(1))
  expect(await open()).toMatchObject([{ mine: { path: copy } }])
  await settle('theirs')
  expect(readTree(root)).toEqual({ '/plan.txt': 'theirs' })
})

test('an edit of the version that gives way becomes another conflict copy', async () => {
  const { root, open, settle, copy, sync, server } = await conflicting()
  meanwhile = () => writeFileSync(join(root, 'plan.txt'), 'theirs, at the last moment')
  await settle('mine')
  const [left, ...more] = await open()
  expect(more).toEqual([])
  expect(left!.mine.path).not.toBe(copy)
  expect(readTree(root)).toEqual({ '/plan.txt': 'mine', [left!.mine.path]: 'theirs, at the last moment' })
  await sync()
  expect(server.tree()).toEqual(readTree(root))
})

test('an edit whose place was taken at once stands beside it, and is listed', async () => {
  const { root, open, settle, copy } = await conflicting()
  meanwhile = (from) => {
    writeFileSync(from, 'mine, at the last moment')
    return () => writeFileSync(from, 'somebody else')
  }
  await expect(settle('theirs')).rejects.toMatchObject({ name: 'Changed' })
  const [first, second, ...more] = await open()
  expect(more).toEqual([])
  const added = [first!, second!].find(({ mine }) => mine.path !== copy)!.mine.path
  expect(readTree(root)).toEqual({
    '/plan.txt': 'theirs',
    [copy]: 'somebody else',
    [added]: 'mine, at the last moment',
  })
})
