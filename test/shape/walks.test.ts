import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { parseScript } from '../cli/script.ts'
import { foldersIn, root } from './repository.ts'

const map = readFileSync(join(root, 'src/README.md'), 'utf8')
const floors = foldersIn('src').join('|')

/** Files that the examples of the walks create. */
const created = ['src/http/sync-status/used.ts', 'src/cli/usage/usage.ts', 'test/cli/scripts/usage.txt']

const isThere = (path: string) => existsSync(join(root, path))

/** Paths in code spans: from the root of the repository, or from a floor. */
function pathsIn(markdown: string): string[] {
  const spans = [...markdown.matchAll(/(?<!`)`([^`\n]+)`(?!`)/g)].map(([, text = '']) => text)
  const paths = spans.flatMap((text) => text.match(/(?:^|(?<= ))[\w./<>-]+\/[\w./<>-]*/g) ?? [])
  const known = paths.filter((path) => new RegExp(`^(?:(?:src|test|bin|templates|docs)/|(?:${floors})/)`).test(path))
  return known.map((path) => (new RegExp(`^(?:${floors})/`).test(path) ? `src/${path}` : path))
}

test('every file and folder that the map names is there', () => {
  const named = pathsIn(map).filter((path) => !path.includes('<') && !created.includes(path))
  expect(named.length).toBeGreaterThan(30)
  expect(named.filter((path) => !isThere(path))).toEqual([])
})

test('the walks create files that are not there yet, whose imports lead somewhere', () => {
  expect(created.filter(isThere)).toEqual([])
  const sources = [...map.matchAll(/Write `([^`]+\.ts)`[^]*?```ts\n([^]*?)```/g)]
  expect(sources.map(([, path]) => path)).toEqual(created.filter((path) => path.endsWith('.ts')))
  const imports = sources.flatMap(([, path = '', code = '']) =>
    [...code.matchAll(/from '([^']+)'/g)].map(([, target = '']) => join(dirname(path), target)),
  )
  expect(imports.length).toBeGreaterThan(3)
  expect(imports.filter((target) => !isThere(target))).toEqual([])
})

test('the script of the walk runs the command that the walk adds', () => {
  const [, script = ''] = /test\/cli\/scripts\/usage\.txt`[^]*?```\n([^]*?)```/.exec(map) ?? []
  const steps = parseScript(script.replaceAll(/^ {3}/gm, ''))
  expect(steps.map(({ command }) => command.split(' ')[1])).toEqual(['user', 'serve', 'login', 'usage'])
  expect(steps.at(-1)).toMatchObject({ stdout: ['Your files use 0 B.'], stderr: [], code: 0 })
})
