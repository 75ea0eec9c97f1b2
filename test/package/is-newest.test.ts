import { mkdirSync, readdirSync, renameSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { temporaryFolder } from '../support/folder.ts'
import { root as repository } from './npm.ts'

/** Scripts of bin have no declarations. */
const { isNewest } = (await import(join(repository, 'bin/is-newest.js'))) as {
  isNewest: (file: string, root: string, names: string[]) => boolean
}

test('A clone is built again after any change of its sources, and only then', async () => {
  const root = await temporaryFolder()
  const path = (name: string) => join(root, name)
  const isBuilt = () => isNewest(path('built'), root, ['src', 'package.json', 'not-there'])
  /** Makes everything older than what happens next. */
  const age = () => {
    for (const name of ['', ...readdirSync(root, { recursive: true, encoding: 'utf8' })])
      utimesSync(path(name), 1_000, 1_000)
  }
  const build = () => {
    writeFileSync(path('built'), '')
    utimesSync(path('built'), 2_000, 2_000)
  }

  mkdirSync(path('src/deep'), { recursive: true })
  for (const name of ['package.json', 'src/a.ts', 'src/deep/b.ts']) writeFileSync(path(name), '')
  expect(isBuilt()).toBe(false)

  const changes = [
    () => writeFileSync(path('src/deep/b.ts'), 'changed'),
    // Neither leaves a file that is newer.
    () => renameSync(path('src/deep/b.ts'), path('src/deep/c.ts')),
    () => rmSync(path('src/deep/c.ts')),
    () => writeFileSync(path('package.json'), '{}'),
    // As an interrupted build leaves it.
    () => rmSync(path('built')),
  ]
  for (const change of changes) {
    age()
    build()
    expect(isBuilt()).toBe(true)
    change()
    expect(isBuilt()).toBe(false)
  }
})
