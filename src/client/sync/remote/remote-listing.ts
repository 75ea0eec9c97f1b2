import { DAY, type Clock } from '../../../base/clock.ts'
import { contract } from '../../../contract/contract.ts'
import { isFault } from '../../../contract/errors.ts'
import { DELTA_LIMIT } from '../../../contract/limits.ts'
import type { Api } from '../../api.ts'
import { FILES, readPage, toListing, toNode, InvalidResponse } from './delta.ts'
import { knownCapabilities, otherAccountError } from './account-check.ts'
import type { Throttle } from '../../http/throttle.ts'
import { fetchListing, type Listing } from './manifest.ts'
import type { Report } from '../report/summary.ts'
import type { Root } from '../state/root.ts'
import type { ReplicaSync } from '../replica-sync.ts'
import type { State } from '../state/sync-state.ts'
import type { FeedNode } from '../state/remote-memory.ts'

const { delta, initial_sync: initialSync } = contract.syncData.actions

export interface ListingParts {
  root: Pick<Root, 'registered'>
  state: State
  api: Api
  throttle: Throttle
  clock: Clock
  signal: AbortSignal
  report: Pick<Report, 'notice'>
  /** The account's rows, which follow the same feed. */
  rows?: Pick<ReplicaSync, 'areNew' | 'cursor' | 'learn' | 'begin'> | undefined
}

/** The position of the change feed when the account was listed. */
export interface FeedPosition {
  cursor: number
  epoch: string
}

interface Named {
  epoch?: unknown
  server_id?: unknown
}

interface CurrentListing extends Pick<Listing, 'nodes' | 'rejected'>, FeedPosition {
  /** Whether all agreements were dropped because the server was restored. */
  wasRestored: boolean
}

/** Limit of pages: an endless feed is not followed. */
const PAGES = 10_000

/** The remembered files, updated by the feed, or else a new listing. A restored server causes a full comparison. */
export async function currentListing(parts: ListingParts): Promise<CurrentListing> {
  const { state, clock } = parts
  const known = state.known()?.cursor
  const distrusted = state.get<number>('feed_distrusted')
  const follows = knownCapabilities(state).feed && (distrusted === undefined || clock.now() - distrusted >= DAY)
  let rewound = false
  // A first run gets files and rows in one response.
  const isNew = known === undefined && state.get('epoch') === undefined && parts.rows?.areNew() === true
  if (follows && (known !== undefined || isNew)) {
    try {
      const current = isNew ? await listByIds(parts, undefined) : await follow(parts)
      if (current) return current
    } catch (error) {
      rewound = isFault(error, 'epoch_mismatch')
      const unsound = error instanceof InvalidResponse
      if (!rewound && !unsound && !isFault(error, 'cursor_expired')) throw error
      if (unsound) state.set('feed_distrusted', clock.now())
      // A listing and its ETag are still valid if only the feed is not trusted.
      if (!unsound || state.known()?.as === 'nodes') state.forgetRemote()
    }
  }
  return fromManifest(parts, known, rewound)
}

/** Follows the feed from the remembered position; undefined for another server or epoch, which the listing decides about. */
async function follow(parts: ListingParts): Promise<CurrentListing | undefined> {
  const { state, api, throttle, signal, rows } = parts
  const epoch = state.get<string>('epoch') ?? ''
  const { as, cursor: known } = state.known()!
  const hasNodes = as === 'nodes'
  // One request for both, from the older of the two cursors.
  let cursor = Math.min(known, rows?.cursor(epoch) ?? known)

  for (let pages = 1; ; pages += 1) {
    const since = cursor
    const answer = await throttle(delta, () => {
      const params = { cursor: since, limit: DELTA_LIMIT.max, ...(epoch === '' ? {} : { epoch }) }
      return api.call(delta, params, { signal })
    })
    if (!isOwn(parts, answer, epoch)) return undefined
    const page = readPage(answer, cursor, known)
    rows?.learn(answer, since)
    cursor = page.cursor
    if (hasNodes && cursor >= known) state.learn(page)
    // A listing has no IDs, which the feed refers to: request them now.
    else if (!hasNodes && page.files) return listByIds(parts, epoch)
    if (!page.more) break
    if (pages === PAGES) throw new InvalidResponse('endless')
  }
  if (!hasNodes) state.confirm(Math.max(cursor, known))
  const nodes = hasNodes ? toListing(state.nodes()!) : (state.remembered()!.nodes as Listing['nodes'])
  return { nodes, rejected: [], wasRestored: false, cursor, epoch }
}

/** Whether a response is from the folder's server in the known epoch; undefined while none is known. */
const isOwn = ({ root }: ListingParts, answer: Named, epoch: string | undefined): boolean =>
  answer.server_id === root.registered.server_id && (epoch === undefined || answer.epoch === epoch)

/** Requests every row with its id, from which the feed can be followed; undefined for another server or epoch. */
async function listByIds(parts: ListingParts, epoch: string | undefined): Promise<CurrentListing | undefined> {
  const { state, api, throttle, signal } = parts
  const answer = await throttle(initialSync, () => api.call(initialSync, {}, { signal }))
  if (!isOwn(parts, answer, epoch)) return undefined
  const { cursor, epoch: spoken } = answer
  if (!Number.isSafeInteger(cursor) || typeof spoken !== 'string') throw new InvalidResponse('cursor')
  const nodes = takeNodes(answer.data)
  const listed = toListing(nodes)
  if (epoch === undefined) state.set('epoch', spoken)
  state.begin(nodes, cursor)
  parts.rows?.begin(answer)
  return { nodes: listed, rejected: [], wasRestored: false, cursor, epoch: spoken }
}

/** The validated file rows. They are removed from the response: there may be very many, and the rest of it is kept longer. */
function takeNodes(data: Record<string, unknown>): FeedNode[] {
  const rows = data[FILES]
  if (!Array.isArray(rows)) throw new InvalidResponse('rows')
  delete data[FILES]
  const nodes = rows.map(toNode)
  if (new Set(nodes.map(({ id }) => id)).size !== nodes.length) throw new InvalidResponse('ids')
  return nodes
}

async function fromManifest(parts: ListingParts, known: number | undefined, rewound: boolean): Promise<CurrentListing> {
  const { root, state, api, throttle, signal, report } = parts
  const remembered = rewound ? undefined : state.remembered()
  const fetched = await fetchListing(api, throttle, remembered, signal)
  const before = state.get<string>('epoch')
  if (fetched.unchanged) {
    const { nodes, cursor } = remembered!
    return { nodes: nodes as Listing['nodes'], rejected: [], wasRestored: false, cursor, epoch: before ?? '' }
  }
  const { etag, listing } = fetched
  const { server_id, epoch, cursor, nodes, rejected } = listing
  if (server_id !== '' && server_id !== root.registered.server_id) {
    throw otherAccountError(root.registered, undefined)
  }
  // The same epoch with an older cursor: the server was restored without svc.
  const wasRestored =
    before !== undefined && (before !== epoch || rewound || (known !== undefined && cursor > 0 && cursor < known))
  if (wasRestored) {
    state.forgetAll()
    report.notice(
      'server_restored',
      'The server was restored from a backup: both sides are compared again, and nothing is deleted.',
    )
  }
  if (before !== epoch) state.set('epoch', epoch)
  // Do not cache an incomplete listing.
  if (etag !== undefined && rejected.length === 0) state.remember({ etag, cursor, nodes })
  return { nodes, rejected, wasRestored, cursor, epoch }
}
