import type { Clock } from '../../base/clock.ts'
import type { Contents } from '../../storage/contents/contents.ts'
import type { ContentProblem } from '../../storage/contents/content-check.ts'
import type { Database } from '../../storage/engine/database.ts'
import { ForeignContents } from '../../storage/contents/blobs/owned-blobs.ts'
import { holdersOf, missingTables, rowCounts } from '../../storage/instance/integrity-check.ts'
import type { Audit } from './audit.ts'
import {
  integrityProblem,
  integrityProblems,
  type IntegrityProblem,
  type IntegrityProblemId,
} from './integrity-problems.ts'
import { makeRepair } from './repair.ts'
import { damageProblems, MAX_PROBLEMS, rowProblems } from './row-check.ts'
import { CONTENT_GRACE } from './upkeep.ts'
import type { Usage } from './usage.ts'

export interface CheckOptions {
  /** Checks only existence and size of contents. */
  quick?: boolean
  /** Repairs what can be repaired without data loss. */
  repair?: boolean
  /** Called with the bytes checked and the total. */
  progress?: (bytes: number, total: number) => void
}

export interface StorageReport {
  problems: IntegrityProblem[]
  /** Kinds with more problems than reported. */
  truncated: IntegrityProblemId[]
  checked: { nodes: number; changes: number; contents: number; bytes: number }
  /** Unreferenced blobs, which the collector will remove; not a problem. */
  orphans: { blobs: number; bytes: number }
}

interface Parts {
  database: Database
  contents: Contents
  clock: Clock
  audit: Audit
  usage: Usage
}

/** Contents per query, which limits the memory of a check. */
const PAGE = 500
/** Most files named for a damaged content. */
const NAMED = 5

const ids: Record<ContentProblem, IntegrityProblemId> = {
  missing: 'blob-missing',
  size: 'blob-size',
  damaged: 'blob-damaged',
  unreadable: 'blob-unreadable',
}

/**
 * Checks everything that is stored: the database, the rows and their references, and the bytes of every content. May
 * run while the service does: rows are read in one snapshot, and contents that disappear meanwhile were deleted.
 */
export function makeStorageCheck(parts: Parts) {
  const { database, contents, clock } = parts
  const repair = makeRepair(parts)

  async function contentProblems(
    quick: boolean,
    progress: (bytes: number, total: number) => void,
  ): Promise<IntegrityProblem[]> {
    const { bytes: total } = await contents.sum()
    const found: IntegrityProblem[] = []
    let done = 0
    for (let after = ''; ;) {
      const page = await contents.page(after, PAGE)
      if (page.length === 0) return found
      for (const { sha256, size } of page) {
        const wrong = await contents.problemOf(sha256, quick)
        if (wrong) found.push(await contentProblem(ids[wrong], sha256))
        progress((done += size), total)
      }
      after = page.at(-1)!.sha256
    }
  }

  async function contentProblem(id: IntegrityProblemId, sha256: string): Promise<IntegrityProblem> {
    const used_by = await holdersOf(database.read, sha256, NAMED)
    return { ...integrityProblem(id, `content ${sha256}`, integrityProblems[id].meaning), used_by }
  }

  const lostTables = async (): Promise<IntegrityProblem[]> =>
    (await missingTables(database.read, database.dialect)).map((name) =>
      integrityProblem('table-missing', `table ${name}`, integrityProblems['table-missing'].meaning),
    )

  async function storeProblems(): Promise<IntegrityProblem[]> {
    try {
      await contents.check()
      return []
    } catch (error) {
      if (!(error instanceof ForeignContents)) throw error
      return [integrityProblem('store-foreign', 'the blob store', error.message)]
    }
  }

  const findRowProblems = () => database.snapshot((at) => rowProblems(at))

  return async function check(options: CheckOptions = {}): Promise<StorageReport> {
    const { quick = false, progress = () => undefined } = options
    const damage = damageProblems(await database.damage(quick))
    const unusable = damage.some(({ id }) => id === 'database-damaged') ? damage : await lostTables()
    const nothing = { nodes: 0, changes: 0, contents: 0, bytes: 0 }
    // A damaged file may return anything: findings about rows would be meaningless.
    if (unusable.length > 0)
      return { problems: unusable, truncated: [], checked: nothing, orphans: { blobs: 0, bytes: 0 } }
    await database.refreshStatistics()
    const rows = await findRowProblems()
    if (options.repair && rows.some(({ repairable }) => repairable)) await repairAll(rows)
    const checked = { ...(await rowCounts(database.read)), ...(await contents.sum()) }
    const found = [...damage, ...(await storeProblems()), ...rows, ...(await contentProblems(quick, progress))]
    return { ...limitPerKind(found), checked, orphans: await contents.orphans(clock.now() - CONTENT_GRACE) }
  }

  /** Repairs problems, and records for each whether it is gone. */
  async function repairAll(found: IntegrityProblem[]): Promise<void> {
    await repair(new Set(found.filter(({ repairable }) => repairable).map(({ id }) => id)))
    const left = new Set((await findRowProblems()).map(({ id, object }) => `${id} ${object}`))
    for (const one of found) one.repaired = one.repairable && !left.has(`${one.id} ${one.object}`)
  }
}

function limitPerKind(found: readonly IntegrityProblem[]): Pick<StorageReport, 'problems' | 'truncated'> {
  const kinds = (Object.keys(integrityProblems) as IntegrityProblemId[]).map((id) => ({
    id,
    of: found.filter((one) => one.id === id),
  }))
  return {
    problems: kinds.flatMap(({ of }) => of.slice(0, MAX_PROBLEMS)),
    truncated: kinds.filter(({ of }) => of.length >= MAX_PROBLEMS).map(({ id }) => id),
  }
}
