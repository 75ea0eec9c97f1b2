import { open } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { BadDocument, readDocument, type Place, type PlacedDocument } from '../../base/document.ts'
import { BadSeed, nameOf, type Plan, type Seeding, type SeedOptions } from '../../domain/seed/seed.ts'
import { makeSources } from './seed-sources.ts'

interface SeedFileProblem extends Place {
  /** The part concerned, such as `users[3].role`; empty for the whole file. */
  part: string
  message: string
}

/** Limit of reported problems. */
const MAX_LISTED = 50

/** An invalid seed; the message has a line for each problem, with its place. */
export class BadSeedFile extends Error {
  override name = 'BadSeedFile'
  readonly exitCode = 2
  readonly reason = 'bad_seed'
  readonly problems: readonly SeedFileProblem[]

  constructor(shown: string, problems: readonly SeedFileProblem[]) {
    const ordered = problems.toSorted((a, b) => a.line - b.line || a.column - b.column)
    const lines = ordered
      .slice(0, MAX_LISTED)
      .map(
        ({ line, column, part, message }) => `${shown}:${line}:${column} ${part === '' ? '' : `${part}: `}${message}`,
      )
    if (problems.length > MAX_LISTED) lines.push(`and ${problems.length - MAX_LISTED} more`)
    const count = problems.length === 1 ? 'a problem' : `${problems.length} problems`
    super([`${shown} has ${count}; nothing was changed.`, ...lines].join('\n'))
    this.problems = ordered
  }
}

/** A seed that cannot be read at all. */
class NoSeedFile extends Error {
  override name = 'NoSeedFile'
  readonly exitCode: number
  constructor(message: string, exitCode: number) {
    super(message)
    this.exitCode = exitCode
  }
}

export interface SeedOrigin {
  file: string
  input?: AsyncIterable<Uint8Array>
  /** The base folder of files that the seed names; by default its own. */
  base?: string | undefined
}

/** Largest seed, in bytes; the limit for YAML is far lower. */
const LARGEST = 256 * 1024 * 1024

/** Reads a seed file and plans it. Throws `BadSeedFile` with every problem and its place. */
export async function planSeedFile(seeding: Seeding, origin: SeedOrigin, options: SeedOptions = {}): Promise<Plan> {
  const { file, base } = origin
  const shown = file === '-' ? 'stdin' : file
  const folder = base ?? (file === '-' ? undefined : dirname(resolve(file)))
  const document = await parseDocument(shown, await textOf(origin, shown))
  try {
    return await seeding.plan(document.value, makeSources(folder), options)
  } catch (error) {
    if (!(error instanceof BadSeed)) throw error
    throw new BadSeedFile(
      shown,
      error.problems.map(({ path, message }) => ({ ...document.placeOf(path), part: nameOf(path), message })),
    )
  }
}

async function parseDocument(shown: string, text: string): Promise<PlacedDocument> {
  try {
    return await readDocument(text)
  } catch (error) {
    if (!(error instanceof BadDocument)) throw error
    throw new BadSeedFile(
      shown,
      error.problems.map((problem) => ({ ...problem, part: '' })),
    )
  }
}

async function textOf({ file, input }: SeedOrigin, shown: string): Promise<string> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of file === '-' ? input! : bytesOf(file)) {
    chunks.push(chunk)
    size += chunk.length
    if (size > LARGEST) throw new NoSeedFile(`${shown} is larger than ${LARGEST / 1024 / 1024} MiB.`, 2)
  }
  if (file === '-' && size === 0) throw new NoSeedFile('Standard input is empty: there is no seed to read.', 2)
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks))
  } catch {
    throw new NoSeedFile(`${shown} is not UTF-8 text.`, 2)
  }
}

async function* bytesOf(file: string): AsyncIterable<Uint8Array> {
  const opened = await open(file).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') throw new NoSeedFile(`There is no file ${file}.`, 5)
    throw new NoSeedFile(`${file} cannot be read: ${error.code}.`, 1)
  })
  try {
    if ((await opened.stat()).isDirectory()) throw new NoSeedFile(`${file} is a folder, not a seed.`, 2)
    yield* opened.createReadStream({ autoClose: false }) as AsyncIterable<Uint8Array>
  } finally {
    await opened.close()
  }
}
