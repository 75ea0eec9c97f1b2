import { makeFolder } from '../../host/folder-creation.ts'
import { lstat } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import process from 'node:process'
import { quoted } from '../../base/shell-words.ts'
import { streamDurably } from '../../host/durable-files.ts'
import { command, flag } from '../command.ts'
import { Exit } from '../exit.ts'
import { warningFor, filledFiles, nextSteps, templateNamed, valueFlags, valuesOf } from './placeholders.ts'

export const write = command({
  name: 'template write',
  summary: 'Write a template with your names and paths filled in, and say what to do next',
  details:
    'The data directory is /var/lib/svc unless --data-dir names another one. Existing files are not changed, ' +
    'and if there are any nothing is written, unless --force is given.',
  needs: 'nothing',
  args: { name: 'template' },
  flags: {
    to: flag.text('folder to write to (the current one)', 'DIR'),
    ...valueFlags,
    force: flag.switch('replace files that are there'),
  },
  examples: [
    'svc template write systemd --user svc --data-dir /srv/svc',
    'svc template write caddy --host cloud.example.org --to proxy',
    'svc template write sample-app',
  ],
  async run({ io, globals, args, flags: { to = '.', force, ...given } }) {
    const template = templateNamed(args.name)
    const values = valuesOf(given, globals)
    const files = (await filledFiles(template, values)).map(({ name, text }) => ({ path: join(to, name), text }))
    if (!force) await assertFree(files.map(({ path }) => path))
    for (const { path, text } of files) await writeText(path, text, force)

    const warning = warningFor(files, values)
    if (warning !== undefined) io.warn(warning)
    const steps = nextSteps(template, values)
    const next = resolve(to) === process.cwd() ? steps : [`cd ${quoted(to)}`, ...steps]
    const paths = files.map(({ path }) => path)
    io.print(paths.map((path) => `Wrote ${path}.`).join('\n'), { name: args.name, files: paths, values, next })
    if (!io.json) io.info(['Next:', ...next.map((line) => `  ${line}`)].join('\n'))
  },
})

/** Fails before anything is written. */
async function assertFree(paths: readonly string[]): Promise<void> {
  const found: string[] = []
  for (const path of paths) {
    const there = await lstat(path).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return undefined
      throw explainError(path, error)
    })
    if (there) found.push(path)
  }
  if (found.length === 0) return
  throw new Exit(
    6,
    `${found.join(', ')} already ${found.length === 1 ? 'exists' : 'exist'}; nothing was written. Give --to another folder, or --force.`,
    'exists',
  )
}

async function writeText(path: string, text: string, replace: boolean): Promise<void> {
  try {
    await makeFolder(dirname(path))
    await streamDurably(path, content(text), { replace, mode: 0o644 })
  } catch (error) {
    throw explainError(path, error as NodeJS.ErrnoException)
  }
}

async function* content(text: string): AsyncGenerator<Uint8Array> {
  yield await Promise.resolve(Buffer.from(text))
}

function explainError(path: string, error: NodeJS.ErrnoException): Error {
  const reasons: Record<string, string> = {
    EACCES: 'you may not write there',
    EPERM: 'you may not write there',
    EROFS: 'the disk is read-only',
    ENOSPC: 'the disk is full',
    ENOTDIR: 'a part of the path is a file',
    EEXIST: 'a part of the path is a file',
    EISDIR: 'a folder is there',
  }
  const reason = reasons[error.code ?? '']
  return reason === undefined ? error : new Exit(1, `${path} could not be written: ${reason}.`, 'not_written')
}
