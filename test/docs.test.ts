import { existsSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { topics } from '../src/base/help-topics.ts'
import { nouns } from '../src/cli/commands.ts'
import { Exit } from '../src/cli/exit.ts'
import { parse } from '../src/cli/program.ts'
import { options } from '../src/domain/instance/options.ts'
import { serve } from '../src/wiring/server.ts'
import { root } from './shape/repository.ts'
import {
  recoveryPages,
  blocksOf,
  decisionNames,
  pageNames,
  pageText,
  spansOf,
  stepsOf,
  svcWordsOf,
} from './support/pages.ts'
import { explores } from './support/explores.ts'
import { runShell } from './support/shell.ts'
import { folderOfTest } from './support/server.ts'

const PASSWORD = 'analytical engine'

/** A pattern for an expected output in which `…` stands for anything on its line. */
const pattern = (output: string): RegExp =>
  new RegExp(
    `^${output
      .split('…')
      .map((text) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
      .join('[^\\n]*')}$`,
  )

const isIndex = (name: string): boolean => name.endsWith('/README.md')

test.each([...pageNames, ...decisionNames])('%s names commands and flags that exist', async (name) => {
  const page = pageText(name)
  const shells = blocksOf(page).filter(({ language }) => ['sh', 'console', 'text'].includes(language))
  const lines = [...shells.flatMap(({ lines: all }) => all.map((line) => line.replace(/^\$ /, ''))), ...spansOf(page)]
  const unknown: string[] = []
  for (const line of lines) {
    const words = svcWordsOf(line)
    const [noun, verb] = words ?? []
    // A command is spoken of, not called.
    if (!words || noun === undefined || noun === 'help' || (verb === undefined && Object.hasOwn(nouns, noun))) continue
    const isSpokenOf = Object.hasOwn(nouns, noun) && words.length === 2 && Object.hasOwn(nouns[noun]!.verbs, verb!)
    if (isSpokenOf && !shells.some(({ lines: all }) => all.includes(line))) continue
    if (words.some((word) => word === '--help')) continue
    const [, , option] = words
    if (`${noun} ${verb}` === 'config set' && option !== undefined && !/[A-Z]/.test(option) && !(option in options))
      unknown.push(`${line}: there is no option ${option}`)
    await parse(words, nouns).catch((error: unknown) => {
      if (error instanceof Exit || error instanceof Error) unknown.push(`${line}: ${error.message}`)
    })
  }
  expect(unknown).toEqual([])
})

test.each([...pageNames, ...decisionNames])('the links of %s lead somewhere', (name) => {
  const page = pageText(name)
  const links = [...page.replace(/^```[^]*?^```$/gm, '').matchAll(/\]\(([^)\s]+)\)/g)].map(([, to]) => to!)
  const slugOf = (heading: string): string =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N} -]/gu, '')
      .replaceAll(' ', '-')
  const broken = links.filter((link) => {
    if (/^https?:/.test(link)) return false
    const [path, anchor] = link.split('#')
    const file = path === '' ? name : join(dirname(name), path!)
    if (!existsSync(join(root, file))) return true
    const headings = [...pageText(file).matchAll(/^#+ (.*)$/gm)].map(([, heading]) => slugOf(heading!))
    return anchor !== undefined && !headings.includes(anchor)
  })
  expect(broken).toEqual([])
})

test('every page is a topic of svc help, and every topic a page', () => {
  const pages = pageNames.filter((name) => name !== 'README.md').map((name) => name.slice('src/docs/'.length, -3))
  expect(pages.sort()).toEqual(Object.keys(topics).sort())
})

test('the index of decisions has a line for every page', () => {
  const [index, pages] = [decisionNames.find(isIndex)!, decisionNames.filter((name) => !isIndex(name))]
  const listed = [...pageText(index).matchAll(/^\| \[[^\]]+\]\(([^)]+)\)/gm)].map(([, to]) => join(dirname(index), to!))
  expect(listed.sort()).toEqual(pages.sort())
})

test.each(decisionNames)('the files that %s names exist', (name) => {
  const files = spansOf(pageText(name)).filter((span) => /^[\w./-]+\/[\w.-]+\.(ts|js)$/.test(span))
  expect(files.filter((file) => !existsSync(join(root, file)) && !existsSync(join(root, 'src', file)))).toEqual([])
})

/** Pages whose commands another test runs. */
const ELSEWHERE = ['README.md', 'src/docs/several-machines.md', ...recoveryPages]
/** Pages with many commands. */
const LONG = ['administration', 'backup-and-restore', 'assistant'].map((name) => `src/docs/${name}.md`)

const run = pageNames.filter((name) => !ELSEWHERE.includes(name) && (explores || !LONG.includes(name)))

/** A server with two accounts, of which the first is signed in, and what commands need to find it. */
async function world() {
  const home = await folderOfTest()
  const dataDir = join(home, 'data')
  const server = await serve({ dataDir, flags: { port: '0' }, env: {}, log: false })
  onTestFinished(() => server.close())
  const { accounts } = server.local.domain
  await accounts.create({ username: 'ada', password: PASSWORD, role: 'admin' })
  await accounts.create({ username: 'bob', password: PASSWORD })
  await mkdir(join(home, 'work'))
  await writeFile(join(home, 'work', 'key.txt'), 'key-of-a-model\n')
  const shell = (script: string) => runShell(script, { home, cwd: join(home, 'work'), env: { SVC_DATA_DIR: dataDir } })
  const login = await shell(`printf '%s\\n' '${PASSWORD}' | svc login ${server.url} --username ada --password-stdin`)
  expect(login).toMatchObject({ code: 0 })
  const localized = (line: string): string =>
    line
      .replaceAll('http://127.0.0.1:8420', server.url)
      .replaceAll('/mnt/backup/svc', join(home, 'backups'))
      .replaceAll('/srv/', join(home, 'srv-'))
      // Asked for on a terminal.
      .replace(' --encrypt', ` --encrypt --passphrase-file ${join(home, 'work', 'key.txt')}`)
  return { home, shell, localized }
}

/** Done, or done with something that wants attention: a check of a fresh installation finds what is still to be done. */
const GOOD = [0, 3]

test.each(run)('the commands of %s work as printed', { timeout: 180_000 }, async (name) => {
  const page = pageText(name)
  const steps = stepsOf(page)
  if (steps.length === 0) return
  const { shell, localized } = await world()
  if (page.includes('--path /Photos')) await shell('echo meow | svc files put - /Photos/cat.jpg')
  const mark = '--8<-- next --8<--'
  const script = steps.map(({ command }) => `${localized(command)}\necho "$? ${mark}"`).join('\n')
  const { stdout, stderr } = await shell(script)
  const results = stdout.split(`${mark}\n`)
  for (const [index, { command, output }] of steps.entries()) {
    const [, printed, code] = /^([^]*?)(?:\n|^)?(\d+) $/.exec(results[index] ?? '') ?? []
    expect([command, GOOD.includes(Number(code)), stderr], command).toEqual([command, true, stderr])
    if (output !== undefined) expect(printed!.trim(), command).toMatch(pattern(output))
  }
})
