import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { onTestFinished } from 'vitest'
import type { Created } from '../../src/domain/backups/backups.ts'
import { openCopyFile } from '../../src/host/sqlite-engine.ts'
import { openArchive } from '../../src/storage/backups/archive.ts'
import { databasePieces, type Manifest } from '../../src/storage/backups/backup-manifest.ts'
import { readRepository, repositoryAt } from '../../src/storage/backups/repository.ts'
import { piecesOf } from '../../src/storage/backups/scratch.ts'
import type { BackupSource } from '../../src/storage/backups/source.ts'
import { backupTarget, type Passphrases } from '../../src/wiring/backups/backup-locations.ts'
import { openLocal, type Local } from '../../src/wiring/local-domain.ts'
import { bytesOf, sha256Of } from './contents.ts'
import { folderOfTest } from './server.ts'

/** Never asks. */
export const noPassphrases: Passphrases = {
  chosen: () => Promise.reject(new Error('A new passphrase was asked for.')),
  known: () => Promise.reject(new Error('A passphrase was asked for.')),
}

/** An installation with one administrator, a small and a large file, and a note. */
export interface Place {
  folder: string
  dataDir: string
  local: Local
  put(path: string, content: Uint8Array): Promise<string>
  /** Creates a backup in a folder or an archive below `folder`. */
  backUp(to: string, more?: { anew?: boolean; signal?: AbortSignal }): Promise<Created>
  close(): Promise<void>
}

export const LARGE = 300_000

/** `isNew`: created by the process that has it open, not reopened. */
export async function placeOfTest({ isNew = true } = {}): Promise<Place> {
  const folder = await folderOfTest()
  const dataDir = join(folder, 'data')
  if (!isNew) await (await openLocal({ dataDir, env: {} })).close()
  const local = await openLocal({ dataDir, env: {} })
  let isOpen = true
  const close = async () => {
    if (isOpen) await local.close()
    isOpen = false
  }
  onTestFinished(close)
  const { domain } = local
  const { id: user } = await domain.accounts.create({ username: 'ada', password: 'analytical engine', role: 'admin' })
  const put = async (path: string, content: Uint8Array) => {
    const staged = await domain.files.receive(Readable.from([content]))
    await domain.files.write(user, path, { staged, claimed: {}, expectation: {} })
    return staged.sha256
  }
  await put('/small.txt', Buffer.from('a small file'))
  await put('/folder/large.bin', bytesOf(LARGE))
  const note = { table: 'svc_notes', operation: 'INSERT', data: { title: 'Milk' } }
  await domain.sync.push(user, { operations: [note] })
  return {
    folder,
    dataDir,
    local,
    put,
    close,
    async backUp(to, { anew = false, signal } = {}) {
      const target = await backupTarget(
        local,
        { to: join(folder, to), encrypt: false, startsOver: anew },
        noPassphrases,
      )
      return domain.backups.create(target, { signal })
    },
  }
}

/** Opens a folder of backups, or an archive, for reading. */
export async function sourceOf(path: string): Promise<BackupSource> {
  const header = await repositoryAt(path)
  const source = header
    ? readRepository(path, header, undefined)
    : await openArchive(path, () => Promise.reject(new Error('A passphrase was asked for.')))
  onTestFinished(() => source.close())
  return source
}

/** Path of an object in a repository. */
export const objectAt = (repository: string, sha256: string): string =>
  join(repository, 'objects', sha256.slice(0, 2), sha256)

export const manifestAt = (repository: string, id: string): string => join(repository, 'snapshots', `${id}.json`)

export const manifestOf = async (repository: string, id: string): Promise<Manifest> =>
  JSON.parse(await readFile(manifestAt(repository, id), 'utf8')) as Manifest

async function addObject(repository: string, data: Uint8Array): Promise<string> {
  const sha256 = sha256Of(data)
  const path = objectAt(repository, sha256)
  await mkdir(join(path, '..'), { recursive: true })
  await writeFile(path, data)
  return sha256
}

/** Changes the database of a backup consistently: chunks and manifest are updated. `change` gets its path. */
export async function forgeDatabase(repository: string, id: string, change: (file: string) => void): Promise<void> {
  const manifest = await manifestOf(repository, id)
  const file = join(repository, 'forged.db')
  const parts = await Promise.all(
    databasePieces(manifest.database).map(({ sha256 }) => readFile(objectAt(repository, sha256))),
  )
  await writeFile(file, Buffer.concat(parts))
  change(file)
  manifest.database = await piecesOf(file)
  const data = await readFile(file)
  let at = 0
  for (const { size } of databasePieces(manifest.database)) {
    await addObject(repository, data.subarray(at, at + size))
    at += size
  }
  await rm(file)
  await writeFile(manifestAt(repository, id), JSON.stringify(manifest))
}

/** Runs SQL on a database file that is not in use. */
export function runSql(file: string, ...statements: string[]): void {
  const database = openCopyFile(file)
  try {
    for (const statement of statements) database.exec(statement)
  } finally {
    database.close()
  }
}

/** Changes the manifest of a backup. */
export async function forgeManifest(
  repository: string,
  id: string,
  change: (manifest: Manifest) => void,
): Promise<void> {
  const manifest = await manifestOf(repository, id)
  change(manifest)
  await writeFile(manifestAt(repository, id), JSON.stringify(manifest))
}

/** All files below a folder with their contents, to check that nothing changed. */
export async function contentsBelow(folder: string): Promise<Record<string, string>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name))
  return Object.fromEntries(
    await Promise.all(
      files.sort().map(async (path) => [path.slice(folder.length + 1), sha256Of(await readFile(path))]),
    ),
  ) as Record<string, string>
}
