import { censusOf, type Census } from '../../storage/backups/census.ts'
import { DamagedBackup, objectsOf, type Manifest, type Piece } from '../../storage/backups/backup-manifest.ts'
import { assembleDatabase, ownScratch } from '../../storage/backups/scratch.ts'
import type { BackupSource } from '../../storage/backups/source.ts'
import { holdersOf } from '../../storage/instance/integrity-check.ts'
import { migrationNames, openCopy } from '../../storage/engine/sqlite-copy.ts'
import type { JobContext } from './job-context.ts'

export interface Problem {
  /** Ids of the affected backups. */
  backups: string[]
  what: string
  /** Who loses what with a damaged content: `ada: /letters/june.txt`. At most `FILES` of them. */
  used_by?: string[]
}

export interface Verification {
  problems: Problem[]
  /** Objects read; shared ones are read once. */
  objects: number
  bytes: number
  /** Backups whose manifest, database and key are intact: a partial restore succeeds. */
  restorable: string[]
  /** Backups whose manifest cannot be read. */
  unreadable: string[]
  /** How many contents could not be read for a backup when it was made, by its id. */
  missing: Record<string, number>
}

/** Files named for one damaged content. */
const FILES = 100

/** The file without which nothing is restored. */
const KEY = 'keys/secret.key'

/** Objects read concurrently: some are read while others are hashed. */
const CONCURRENCY = 4

const same = (a: Piece[], b: Piece[]): boolean =>
  a.length === b.length && a.every(({ sha256, size }, at) => sha256 === b[at]!.sha256 && size === b[at]!.size)

/** Contents that a backup holds according to its database. */
const contentsIn = ({ blobs }: Census, { missing }: Manifest): Piece[] => {
  const gone = new Set(missing)
  return blobs.filter(({ sha256 }) => !gone.has(sha256))
}

/** Differences between a database and its manifest; a manifest may be forged. */
function differences(manifest: Manifest, stored: readonly Piece[] | undefined, census: Census): string[] {
  const found: string[] = []
  const compare = (what: string, isSame: boolean): void => {
    if (!isSame) found.push(`the manifest says something else than the database: ${what}`)
  }
  compare('server_id', census.server_id === manifest.server_id)
  compare('epoch', census.epoch === manifest.epoch)
  compare('migrations', census.migrations.join() === manifest.migrations.join())
  const tables = new Set([...Object.keys(census.rows), ...Object.keys(manifest.rows)])
  for (const table of tables) compare(`rows of ${table}`, census.rows[table] === manifest.rows[table])
  const { accounts, files, file_bytes } = manifest.totals
  compare('accounts', census.accounts === accounts)
  compare('files', census.files === files && census.file_bytes === file_bytes)
  if (stored) compare('contents', same(contentsIn(census, manifest), [...stored]))
  return found
}

/**
 * Problems of a backup's database; empty if it is intact and matches the manifest. Must run before any other query on the
 * file. `blobs` is undefined where the lists of contents are damaged.
 */
export async function databaseProblems(
  manifest: Manifest,
  blobs: readonly Piece[] | undefined,
  file: string,
): Promise<string[]> {
  const newer = manifest.migrations.find((name, at) => name !== migrationNames[at])
  if (newer !== undefined) return [`a newer version of svc made it (${newer}): update svc`]
  const copy = openCopy(file)
  try {
    const problems = await copy.problems(manifest.migrations)
    return problems.length > 0 ? problems : differences(manifest, blobs, await censusOf(copy.at))
  } finally {
    copy.close()
  }
}

/** Contents of a backup, read from its database; `databaseProblems` has found none in it. */
export async function contentsInDatabase(manifest: Manifest, file: string): Promise<Piece[]> {
  const copy = openCopy(file)
  try {
    return contentsIn(await censusOf(copy.at), manifest)
  } finally {
    copy.close()
  }
}

/** Names the files of damaged contents, by hash, that are in this database. */
async function nameFiles(file: string, damaged: readonly [string, Problem][]): Promise<void> {
  if (damaged.length === 0) return
  const copy = openCopy(file)
  try {
    for (const [sha256, problem] of damaged) {
      const found = await holdersOf(copy.at, sha256, FILES)
      problem.used_by = [...new Set([...(problem.used_by ?? []), ...found])].slice(0, FILES)
    }
  } finally {
    copy.close()
  }
}

interface Opened {
  id: string
  manifest: Manifest
  blobs: Piece[]
}

async function forEachConcurrently<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const queue = [...items].reverse()
  const worker = async (): Promise<void> => {
    for (let next = queue.pop(); next !== undefined; next = queue.pop()) await work(next)
  }
  await Promise.all(Array.from({ length: CONCURRENCY }, worker))
}

/** Runs `work` and returns damage as a problem of these backups, which it adds to `problems`; rethrows other errors. */
async function reporting(
  problems: Problem[],
  backups: string[],
  work: () => Promise<void>,
): Promise<Problem | undefined> {
  try {
    await work()
    return undefined
  } catch (error) {
    if (!(error instanceof DamagedBackup)) throw error
    const problem = { backups, what: error.message }
    problems.push(problem)
    return problem
  }
}

/**
 * Reads all objects of these backups and verifies them: objects by hash, databases by SQLite's integrity check, the schema
 * and the manifest. `scratch` is a folder for one database at a time. Backups removed meanwhile have no problems.
 */
export async function verify(
  source: BackupSource,
  ids: readonly string[],
  scratch: string,
  job: JobContext = {},
): Promise<Verification> {
  const listed = await source.ids()
  const found = await readAll(source, ids, scratch, job)
  if (found.problems.length === 0) return found
  const left = new Set(await source.ids())
  const isLeft = (id: string): boolean => left.has(id) || !listed.includes(id)
  const problems = found.problems
    .map((problem) => ({ ...problem, backups: problem.backups.filter(isLeft) }))
    .filter(({ backups }) => backups.length > 0)
  const [restorable, unreadable] = [found.restorable.filter(isLeft), found.unreadable.filter(isLeft)]
  return { ...found, problems, restorable, unreadable }
}

async function readAll(
  source: BackupSource,
  ids: readonly string[],
  scratch: string,
  { progress, signal }: JobContext,
): Promise<Verification> {
  const problems: Problem[] = []
  const opened: Opened[] = []
  if (source.problem !== undefined) problems.push({ backups: [...ids], what: source.problem })
  const unreadable: string[] = []
  for (const id of ids) {
    await reporting(problems, [id], async () => {
      const manifest = await source.manifest(id).catch((error: unknown) => {
        unreadable.push(id)
        throw error
      })
      opened.push({ id, manifest, blobs: await source.blobs(manifest) })
    })
  }

  const objects = new Map<string, { piece: Piece; backups: string[] }>()
  for (const { id, manifest, blobs } of opened) {
    for (const piece of objectsOf(manifest, blobs)) {
      const known = objects.get(piece.sha256)
      if (known) known.backups.push(id)
      else objects.set(piece.sha256, { piece, backups: [id] })
    }
  }
  const bytes = [...objects.values()].reduce((sum, { piece }) => sum + piece.size, 0)
  progress?.total(bytes + opened.reduce((sum, { manifest }) => sum + manifest.database.size, 0))

  const damaged = new Map<string, Problem>()
  await forEachConcurrently([...objects.values()], async ({ piece, backups }) => {
    const problem = await reporting(problems, backups, async () => {
      for await (const part of source.read(piece)) {
        signal?.throwIfAborted()
        progress?.add(part.length)
      }
    })
    if (problem) damaged.set(piece.sha256, problem)
  })

  const restorable: string[] = []
  for (const { id, manifest, blobs } of opened) {
    signal?.throwIfAborted()
    const key = manifest.files.find(({ path }) => path === KEY)?.sha256
    if (manifest.database.pieces.some((sha256) => damaged.has(sha256))) continue
    const { file, clear } = ownScratch(scratch)
    try {
      if (await reporting(problems, [id], () => assembleDatabase(source, manifest, file, progress?.add))) continue
      const found = await databaseProblems(manifest, blobs, file)
      problems.push(...found.map((what) => ({ backups: [id], what })))
      const itsOwn = [...damaged].filter(([, problem]) => problem.backups.includes(id))
      if (found.length > 0) continue
      if (key === undefined || !damaged.has(key)) restorable.push(id)
      await nameFiles(file, itsOwn)
    } finally {
      await clear()
    }
  }
  const incomplete = opened.filter(({ manifest }) => manifest.missing.length > 0)
  const missing = Object.fromEntries(incomplete.map(({ id, manifest }) => [id, manifest.missing.length]))
  return { problems, objects: objects.size, bytes, restorable, unreadable, missing }
}
