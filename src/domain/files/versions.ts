import { iso } from '../../base/clock.ts'
import { fault } from '../../contract/errors.ts'
import type { Reader } from '../../storage/engine/database.ts'
import { versionOf, versionsOf } from '../../storage/files/versions.ts'
import type { FileParts } from './file-parts.ts'
import type { FileFacts } from './queries.ts'
import type { Expectation } from './preconditions.ts'
import { scopeOf, type ParsedPath } from './path-resolver.ts'
import { quotaOf } from './allowance.ts'
import { makeStore } from './write.ts'

type Parts = Pick<FileParts, 'database' | 'clock' | 'tree' | 'reach' | 'allowance' | 'bounds' | 'history'>

/** Earlier contents of files. */
export const makeVersions = (parts: Parts) => {
  const { database, tree, reach, allowance, history } = parts
  const store = makeStore(parts)

  async function fileAt(on: Reader, user: number, address: ParsedPath) {
    const spot = await reach.resolve(on, user, address)
    const node = await tree.find(on, spot)
    if (node?.type !== 'file') throw fault('not_found')
    return { spot, node }
  }

  async function version(on: Reader, user: number, address: ParsedPath, id: number) {
    const { spot, node } = await fileAt(on, user, address)
    const found = await versionOf(on, node.id, id)
    if (!found) throw fault('not_found')
    return { spot, version: found }
  }

  return {
    /** The current content as version 0, then earlier ones, newest first. Faults: `bad_path`, `not_found`. */
    async list(user: number, path: string) {
      const address = reach.parse(path, 'thing')
      return database.snapshot(async (at) => {
        const { node } = await fileAt(at, user, address)
        const present = {
          id: 0,
          sha256: node.sha256!,
          size: node.size,
          mtime: node.mtime,
          replaced_at: node.updated_at,
        }
        return [present, ...(await versionsOf(at, node.id))].map(({ id, sha256, size, mtime, replaced_at }) => ({
          version_id: id,
          size,
          sha256,
          mtime,
          created_at: iso(replaced_at),
          current: id === 0,
        }))
      })
    },

    /** Size, hash and modification time (s) of an earlier content. Faults: `bad_path`, `not_found`. */
    async facts(user: number, path: string, id: number): Promise<FileFacts> {
      const address = reach.parse(path, 'thing')
      const found = await database.snapshot((at) => version(at, user, address, id))
      const { sha256, size, mtime } = found.version
      return { sha256, size, mtime }
    },

    /** The current content becomes a version. Faults: `bad_path`, `not_found`, `quota_exceeded`, `precondition_failed`. */
    async restore(user: number, path: string, id: number, expectation: Expectation = {}): Promise<number> {
      const address = reach.parse(path, 'thing')
      const quota = await quotaOf(database.read, user, allowance)
      const restored = await database.write(scopeOf(user, address), async (tx) => {
        const { spot, version: content } = await version(tx, user, address, id)
        return store(tx, spot, content, { quota, expectation })
      })
      await history.trim(user)
      return restored.version
    },
  }
}
