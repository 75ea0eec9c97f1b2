import { readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { expect, test } from 'vitest'
import { filesBelow, root } from './repository.ts'

// A file is found by guessing its name, so a base name stands once under src. Three exceptions: a noun that several floors share
// is listed here; an action (`http/<endpoint>/<action>.ts`) and a command (`cli/<noun>/<verb>.ts`) are verbs of different nouns; and
// every app of the desktop has a `main`, a `store` and its `words`.

const sharedNouns = new Set(
  `account-settings accounts actor admin app-releases apps assistant audit author backup-browser backup-context backups chat
  completions components composer conversations desktop desktop-components doctor errors event-stream feed files filesystem health help
  history ledger maintenance markdown mentions message-log message-text models operation outbox pages password paths pending-logins
  photos preconditions presence profiles pruning room-feed room-files rooms rows search security-events session sessions settings setup
  sign-in sync-auth sync-data sync-files sync-status tables team-chat transport trash usage users versions`.split(
    /\s+/,
  ),
)

const isVerb = (file: string): boolean =>
  /^src\/(http|cli)\/[^/]+\//.test(file) && / = (command|handle\w*)\(/.test(readFileSync(join(root, file), 'utf8'))

const isPartOfApp = (file: string): boolean => /^src\/desktop\/.*\/(main|store|words)\.tsx?$/.test(file)

test('a base name stands once on a floor, and on several floors only for a noun that they share', () => {
  const filesByName = new Map<string, string[]>()
  for (const file of filesBelow('src')) {
    if (!/\.tsx?$/.test(file) || isVerb(file) || isPartOfApp(file)) continue
    const name = basename(file).replace(/\..*$/, '')
    filesByName.set(name, [...(filesByName.get(name) ?? []), file])
  }
  const shared = [...filesByName].filter(([, files]) => files.length > 1)
  const onOneFloor = shared.filter(([, files]) => new Set(files.map((file) => file.split('/')[1])).size < files.length)
  expect(onOneFloor).toEqual([])
  expect(
    shared.filter(([name]) => !sharedNouns.has(name)),
    'rename one, or list the noun',
  ).toEqual([])
  expect([...sharedNouns].filter((name) => !shared.some(([known]) => known === name))).toEqual([])
})
