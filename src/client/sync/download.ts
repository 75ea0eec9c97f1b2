import { createHash } from 'node:crypto'
import { lstatSync, rmSync } from 'node:fs'
import { open, type FileHandle } from 'node:fs/promises'
import { dirname } from 'node:path'
import { randomHex } from '../../base/random.ts'
import { contract } from '../../contract/contract.ts'
import { Changed, Corrupt } from './changed.ts'
import type { OpOf } from './draft.ts'
import { conflictName, placeOf } from './paths.ts'
import { assertFile, assertFolders, placeNew, placeOver, see, trashPlace } from './placing.ts'
import { ownFile } from './root.ts'
import { identityOf } from './scan.ts'
import type { Effect } from './settle.ts'
import type { Change } from './state.ts'
import { childOf, nameOf, parentOf, type FileState, type Identity } from './tree.ts'
import type { Work } from './work.ts'

const action = contract.syncFiles.actions.download

/**
 * Brings a file here: into a temporary file, checked against what was announced and flushed, and only then to its place, where
 * nothing is overwritten but the very file the plan saw. What is replaced goes to the trash.
 */
export async function download(work: Work, op: OpOf<'download'>): Promise<Effect> {
  const target = placeOf(work.root, op.here)
  const before = see(target)
  assertFolders(work.root, op.here)
  if (op.over) assertFile(target, op.over)
  else if (before) throw new Changed('here')
  const mode = before?.kind === 'file' ? before.mode : undefined

  const temporary = ownFile(work.root, 'tmp', randomHex(12))
  try {
    const at = work.clock.now()
    const fetched = await work.pace(action, () => fetchInto(work, op, temporary, mode))
    work.signal.throwIfAborted()
    assertFolders(work.root, op.here)
    if (op.over) await replace(work, op, temporary, target, op.over)
    else placeNew(temporary, target)
    const changes: Change[] = [{ put: op.key, node: { path: op.there, ...op.file } }]
    if (op.over) changes.push({ end: op.key })
    const placed = stillThat(target, fetched)
    if (placed) changes.push({ hash: op.key, hashed: { id: placed, sha256: op.file.sha256, blank: false, at } })
    return { folders: [dirname(target)], changes }
  } finally {
    rmSync(temporary, { force: true })
  }
}

async function fetchInto(
  work: Work,
  op: OpOf<'download'>,
  temporary: string,
  mode: number | undefined,
): Promise<Identity> {
  const { sha256, size, mtime } = op.file
  const answer = await work.api.receive(action, { path: op.there }, { signal: work.signal })
  const announced = answer.headers['x-file-sha256']
  if (announced !== undefined && announced !== sha256) {
    for await (const _ of answer.body) break
    throw new Changed('there')
  }
  const file = await open(temporary, 'w', 0o666)
  try {
    const received = await receive(work, answer.body, file, size)
    if (received.size !== size || received.sha256 !== sha256) {
      throw new Corrupt(
        `${received.size} of ${size} bytes arrived, with the checksum ${received.sha256.slice(0, 8)}… instead of ${sha256.slice(0, 8)}….`,
      )
    }
    if (mode !== undefined) await file.chmod(mode)
    // A time of 0 is one that nobody knew.
    if (mtime > 0) await file.utimes(work.clock.now() / 1_000, mtime)
    await file.sync()
    return identityOf(await file.stat({ bigint: true }))
  } finally {
    await file.close()
  }
}

/** Writes what arrives, up to the announced size: a server that sends more is cut off. */
async function receive(
  work: Work,
  body: AsyncIterable<Uint8Array>,
  file: FileHandle,
  most: number,
): Promise<Pick<FileState, 'size' | 'sha256'>> {
  const hash = createHash('sha256')
  let size = 0
  for await (const chunk of body) {
    size += chunk.length
    if (size > most) break
    hash.update(chunk)
    await file.writeFile(chunk)
    work.onBytes(chunk.length)
  }
  return { size, sha256: hash.digest('hex') }
}

async function replace(
  work: Work,
  op: OpOf<'download'>,
  temporary: string,
  target: string,
  over: Identity,
): Promise<void> {
  const trash = trashPlace(work.root, work.run, op.here)
  const { size, mtimeNs } = over
  await work.settle.now({ changes: [{ begin: { kind: 'replace', key: op.key, path: op.here, trash, size, mtimeNs } }] })
  try {
    if (placeOver(temporary, target, over, trash)) return
  } catch (error) {
    await work.settle.now({ changes: [{ end: op.key }] })
    throw error
  }
  keepEdit(work, op.here, trash)
}

/** What was written at the last moment into a file that was being replaced is an edit: it comes back as a conflict copy. */
export function keepEdit(work: Pick<Work, 'root' | 'device' | 'date' | 'onDone'>, path: string, trash: string): void {
  const { root, device, date, onDone } = work
  // Its writer may not have finished, so it has no content yet to be named by.
  const name = conflictName({ name: nameOf(path), device, date, sha256: randomHex(4), attempt: 1 })
  const copy = childOf(parentOf(path), name)
  placeNew(trash, placeOf(root, copy))
  onDone({ op: 'set-aside', path, reason: 'both_changed', copy })
}

/** The identity of a placed file, if it is still the one that was fetched; a hash is remembered only for that. */
function stillThat(target: string, fetched: Identity): Identity | undefined {
  const stats = lstatSync(target, { bigint: true, throwIfNoEntry: false })
  if (!stats?.isFile()) return undefined
  const id = identityOf(stats)
  return id.ino === fetched.ino && id.size === fetched.size && id.mtimeNs === fetched.mtimeNs ? id : undefined
}
