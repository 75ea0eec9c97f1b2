import {
  copyFileSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  symlinkSync,
} from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { paths, useSyncCommand } from '../support/sync-command.ts'

const { svc, folders } = useSyncCommand()

/** Rebuilds a tree of files with links to their contents, where that is possible. */
function mirror(from: string, to: string, except: readonly string[]): void {
  mkdirSync(to)
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)]
    if (except.includes(entry.name)) continue
    if (entry.isDirectory()) mirror(source, target, except)
    else if (entry.isSymbolicLink()) symlinkSync(readlinkSync(source), target)
    else {
      try {
        linkSync(source, target)
      } catch {
        copyFileSync(source, target)
      }
    }
  }
}

test("a real tree of thousands of files, this project's own packages, arrives byte for byte", async () => {
  const { profile, roots } = await folders(2)
  const [one, other] = roots as [string, string]
  mirror(fileURLToPath(new URL('../../node_modules', import.meta.url)), join(one, 'node_modules'), [
    '.cache',
    '.vite',
    '.vite-temp',
    // More thousands of files of the same kind find nothing else.
    '@ai-sdk',
    '@noble',
    '@opentelemetry',
    '@redocly',
    'ajv',
    'knip',
    'kysely',
    'lodash',
    'lucide',
    'pdfjs-dist',
    'typebox',
    'zod',
  ])
  const all = paths(one)
  const links = all.filter((path) => lstatSync(join(one, path)).isSymbolicLink())
  const files = all.filter((path) => lstatSync(join(one, path)).isFile())
  expect(files.length).toBeGreaterThan(5_000)

  const up = await svc(['sync', one, '--profile', profile, '--json'])
  const sent = JSON.parse(up.stdout.trim().split('\n').at(-1)!) as {
    uploaded: { files: number }
    skipped: { path: string; code: string }[]
  }
  expect(sent.uploaded.files).toBe(files.length)
  // Links are left alone, and said to be.
  expect(links.length).toBeGreaterThan(10)
  expect(sent.skipped.map(({ path, code }) => `${code} ${path}`).sort()).toEqual(
    links.map((path) => `symlink /${path}`),
  )
  expect(up.code).toBe(3)
  for (const path of links) expect(lstatSync(join(one, path)).isSymbolicLink()).toBe(true)

  expect((await svc(['sync', other, '--profile', profile])).code).toBe(0)
  expect(paths(other)).toEqual(all.filter((path) => !links.includes(path)))
  const different = files.filter((path) => !readFileSync(join(one, path)).equals(readFileSync(join(other, path))))
  expect(different).toEqual([])

  const again = await svc(['sync', other, '--profile', profile, '--json'])
  expect(JSON.parse(again.stdout.trim().split('\n').at(-1)!)).toMatchObject({ requests: 1, hashed: 0, in_sync: true })
}, 300_000)
