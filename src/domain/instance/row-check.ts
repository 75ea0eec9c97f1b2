import { feedTables } from '../../contract/tables.ts'
import type { Damage, Reader } from '../../storage/engine/database.ts'
import {
  brokenReferences,
  misplacedNodes,
  rootlessAccounts,
  brokenTrash,
  uncountedAccounts,
  unreachableFolders,
} from '../../storage/instance/integrity-check.ts'
import {
  overrunHeads,
  sharedPositions,
  unexpectedChanges,
  rowsMissingFromFeed,
  type FeedEntry,
} from '../../storage/instance/feed-check.ts'
import { integrityProblem, integrityProblems, type IntegrityProblem } from './integrity-problems.ts'
import { allDrifts } from './usage.ts'

/** Most problems of one kind that are reported. */
export const MAX_PROBLEMS = 1_000

/** References with specific checks of their own. */
const CHECKED_ELSEWHERE = new Set(['nodes nodes', 'nodes contents', 'versions contents', 'app_files contents'])

/** Problems reported by the engine, without those that other checks cover. */
export const damageProblems = (damage: readonly Damage[]): IntegrityProblem[] =>
  damage
    .filter(({ reference }) => !reference || !CHECKED_ELSEWHERE.has(`${reference.from} ${reference.to}`))
    .map(({ text, reference }) =>
      reference
        ? integrityProblem('reference-broken', `table ${reference.from}`, text)
        : integrityProblem('database-damaged', 'database', text),
    )

export async function rowProblems(at: Reader): Promise<IntegrityProblem[]> {
  return [
    ...(await treeProblems(at)),
    ...(await referenceProblems(at)),
    ...(await accountProblems(at)),
    ...(await feedProblems(at)),
  ]
}

async function treeProblems(at: Reader): Promise<IntegrityProblem[]> {
  const misplaced = await misplacedNodes(at, MAX_PROBLEMS)
  const rootless = await rootlessAccounts(at, MAX_PROBLEMS)
  const cycles = cyclesAmong(await unreachableFolders(at, MAX_PROBLEMS * 10))
  const trash = await brokenTrash(at, MAX_PROBLEMS)
  return [
    ...rootless.map(({ username }) =>
      integrityProblem('root-missing', `account ${username}`, integrityProblems['root-missing'].meaning),
    ),
    ...misplaced.map(({ problem: id, id: node, name, username }) =>
      integrityProblem(id, `node ${node}`, `"${name}" of ${username ?? 'nobody'}: ${integrityProblems[id].meaning}`),
    ),
    ...cycles.map((ids) =>
      integrityProblem('folder-cycle', `node ${ids[0]}`, `folders ${ids.join(', ')} lie in each other`),
    ),
    ...trash.map(({ id, path }) =>
      integrityProblem('trash-entry-stray', `trash entry ${id}`, `"${path}" is not in it`),
    ),
  ]
}

/** The cycles among folders that no root leads to, each beginning with its smallest ID. */
function cyclesAmong(folders: readonly { id: number; parent_id: number }[]): number[][] {
  const parents = new Map(folders.map(({ id, parent_id }) => [id, parent_id]))
  const settled = new Set<number>()
  const cycles: number[][] = []
  for (const start of parents.keys()) {
    const walked: number[] = []
    let id: number | undefined = start
    while (id !== undefined && !settled.has(id)) {
      settled.add(id)
      walked.push(id)
      id = parents.get(id)
    }
    const met = id === undefined ? -1 : walked.indexOf(id)
    if (met >= 0) cycles.push(fromSmallest(walked.slice(met)))
  }
  return cycles
}

function fromSmallest(cycle: number[]): number[] {
  const at = cycle.indexOf(Math.min(...cycle))
  return [...cycle.slice(at), ...cycle.slice(0, at)]
}

const referenceProblems = async (at: Reader): Promise<IntegrityProblem[]> =>
  (await brokenReferences(at, MAX_PROBLEMS)).map(({ problem: id, kind, id: row, sha256 }) =>
    integrityProblem(id, `${kind} ${row}`, `${integrityProblems[id].meaning}: ${sha256}`),
  )

async function accountProblems(at: Reader): Promise<IntegrityProblem[]> {
  const uncounted = await uncountedAccounts(at, MAX_PROBLEMS)
  const drifts = await allDrifts(at)
  return [
    ...uncounted.map(({ username }) =>
      integrityProblem('counters-missing', `account ${username}`, integrityProblems['counters-missing'].meaning),
    ),
    ...drifts
      .slice(0, MAX_PROBLEMS)
      .map(({ username, kind, counted, actual }) =>
        integrityProblem(
          'quota-drift',
          `account ${username}`,
          `${counted} bytes of ${kind} are counted, there are ${actual}`,
        ),
      ),
  ]
}

async function feedProblems(at: Reader): Promise<IntegrityProblem[]> {
  const found: IntegrityProblem[] = []
  const name = ({ user_id, tbl, row_id }: FeedEntry) => `${tbl} ${row_id} for account ${user_id}`
  for (const table of feedTables) {
    const missing = await rowsMissingFromFeed(at, table, MAX_PROBLEMS)
    const stray = await unexpectedChanges(at, table, MAX_PROBLEMS)
    found.push(...missing.map((spot) => integrityProblem('feed-row-missing', name(spot), 'seen, but not in the feed')))
    found.push(...stray.map((spot) => integrityProblem('feed-row-stray', name(spot), 'in the feed, but not seen')))
  }
  for (const { username, head, last } of await overrunHeads(at))
    found.push(
      integrityProblem('feed-beyond-head', `account ${username}`, `the head is ${head}, the last change ${last}`),
    )
  for (const { user_id, seq } of await sharedPositions(at, MAX_PROBLEMS))
    found.push(
      integrityProblem('feed-position-shared', `account ${user_id}`, `position ${seq} is that of several changes`),
    )
  return found
}
