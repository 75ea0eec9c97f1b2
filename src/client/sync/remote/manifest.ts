import { contract } from '../../../contract/contract.ts'
import { foreignResponse, readJson } from '../../http/response.ts'
import type { Api } from '../../api.ts'
import { knownTime } from '../../files/modification-time.ts'
import { Unreachable } from '../../errors.ts'
import type { Throttle } from '../../http/throttle.ts'
import type { Remembered } from '../state/remote-memory.ts'
import { parentOf, ROOT, isCount, type RemoteFile, type RemoteNode, type Skipped } from '../plan/sync-tree.ts'
import { isSafePath } from '../../files/path-rules.ts'

const { manifest } = contract.syncFiles.actions

export type Listed = Exclude<RemoteNode, { kind: 'other' }>

export interface Listing {
  nodes: Iterable<Listed>
  /** Entries that no valid server sends; with any of them the listing counts as incomplete. */
  rejected: Skipped[]
  cursor: number
  epoch: string
  server_id: string
}

type Fetched = { unchanged: true } | { unchanged: false; etag: string | undefined; listing: Listing }

/** Requests the listing, unless nothing changed since `remembered`. */
export async function fetchListing(
  api: Api,
  throttle: Throttle,
  remembered: Remembered | undefined,
  signal?: AbortSignal,
): Promise<Fetched> {
  return throttle(manifest, async () => {
    const headers = remembered ? { 'if-none-match': remembered.etag } : {}
    const answer = await api.receive(manifest, {}, { headers, ...(signal ? { signal } : {}) })
    if (answer.status === 304) {
      if (remembered) return { unchanged: true }
      throw new Unreachable(`${api.url} answered 304 to a request for everything: check the proxies in between.`)
    }
    const document = await readJson(answer, api.url)
    return { unchanged: false, etag: answer.headers['etag'], listing: readListing(document, api.url) }
  })
}

/** Parses a manifest. An invalid document is an error, never an empty account. */
function readListing(document: Record<string, unknown>, from: string): Listing {
  const { ok, files, directories = [], cursor, epoch = '', server_id = '' } = document
  const sound = ok === true && Array.isArray(files) && Array.isArray(directories)
  if (!sound || typeof epoch !== 'string' || typeof server_id !== 'string') {
    throw foreignResponse(from, 200, 'an invalid listing')
  }
  const rejected: Skipped[] = []
  const seen = new Map<string, Listed>()
  for (const entry of files) {
    const file = toFile(entry)
    if (!file || seen.has(file.path)) rejected.push({ path: pathIn(entry), code: 'bad_path' })
    else seen.set(file.path, file)
  }
  const folders = directories.flatMap((path: unknown) => {
    if (isSafePath(path)) return [path]
    rejected.push({ path: pathIn({ path }), code: 'bad_path' })
    return []
  })
  const implied = new Set(folders)
  for (const path of [...seen.keys(), ...folders]) {
    for (let at = parentOf(path); at !== ROOT && !implied.has(at); at = parentOf(at)) implied.add(at)
  }
  for (const path of implied) {
    if (seen.get(path)?.kind === 'file') rejected.push({ path, code: 'bad_path' })
    else seen.set(path, { kind: 'dir', path })
  }
  return {
    nodes: { [Symbol.iterator]: () => seen.values() },
    rejected: uniqueByPath(rejected),
    cursor: typeof cursor === 'number' ? cursor : 0,
    epoch,
    server_id,
  }
}

const uniqueByPath = (skipped: Skipped[]): Skipped[] => [...new Map(skipped.map((each) => [each.path, each])).values()]

const pathIn = (entry: unknown): string => String((entry as { path?: unknown } | null)?.path).slice(0, 1_000)

function toFile(entry: unknown): RemoteFile | undefined {
  if (typeof entry !== 'object' || entry === null) return undefined
  const { path, size, sha256, mtime } = entry as Record<string, unknown>
  const sound = isSafePath(path) && isCount(size) && typeof sha256 === 'string' && /^[0-9a-f]{64}$/.test(sha256)
  return sound ? { kind: 'file', path, size, sha256, mtime: knownTime(mtime) ?? 0 } : undefined
}
