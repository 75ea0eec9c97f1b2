import { contract } from '../../../contract/contract.ts'
import { downloadGroups } from './download-batch.ts'
import type { Op, OpOf } from '../plan/plan-builder.ts'
import { isMove, isBatchable, splitByBatchable } from '../plan/move-operations.ts'
import { foldersAbove } from '../plan/reserved-paths.ts'
import { sizeOf } from './executor.ts'
import { uploadGroups } from './upload-batch.ts'
import type { RunContext } from '../run-context.ts'

/** Operations sent in batches, and those sent one by one. */
export interface Schedule<O extends Op> {
  groups: O[][]
  rest: O[]
}

/** How the server operations of a plan are grouped into requests. */
export interface Schedules {
  upload: Schedule<OpOf<'upload'>>
  download: Schedule<OpOf<'download'>>
  'make-remote': Schedule<OpOf<'make-remote'>>
}

/** Files up to this size, in bytes, are batched: below it a request costs more than the content. */
const SMALL = 256 * 1024
/** Files from this size on, in bytes, wait until the smaller ones are done. */
const LARGE = 8 * 1_048_576

type ScheduleContext = Pick<RunContext, 'limits' | 'capabilities'>
type Transfer = OpOf<'upload'> | OpOf<'download'>

/** Groups a plan into requests: small files in batches by folder, which keeps flushing cheap; large ones last. */
export function schedule({ limits, capabilities }: ScheduleContext, ops: readonly Op[]): Schedules {
  const of = <K extends Op['op']>(kind: K): OpOf<K>[] =>
    ops.filter((op): op is OpOf<K> => op.op === kind).sort((a, b) => (a.key < b.key ? -1 : 1))
  const [up, down] = [of('upload'), of('download')]
  const rules = limits()
  const upload = uploadGroups({ capabilities }, up, batchableSize(up, rules['sync_upload']))
  const download = downloadGroups({ capabilities }, down, batchableSize(down, rules['sync_download']))
  const folders = ownFolders(of('make-remote'), up)
  return {
    upload: { groups: upload.groups, rest: upload.rest.sort(largeLast) },
    download: { groups: download.groups, rest: download.rest.sort(largeLast) },
    'make-remote': { groups: chunks(folders, capabilities.files_batch?.operations), rest: [] },
  }
}

/** In groups of at most `size`; without a size each on its own. */
export const chunks = <T>(things: readonly T[], size = 1): T[][] =>
  Array.from({ length: Math.ceil(things.length / size) }, (_, at) => things.slice(at * size, (at + 1) * size))

/** The largest batched file, in bytes; larger if rate limits make requests scarce. */
function batchableSize(ops: readonly Transfer[], rule: { max: number } | undefined): number {
  const larger = ops.filter((op) => sizeOf(op) > SMALL).length
  return rule && larger > rule.max ? LARGE : SMALL
}

const largeLast = (a: Transfer, b: Transfer): number => Number(sizeOf(a) >= LARGE) - Number(sizeOf(b) >= LARGE)

/** Folders that need an operation of their own: uploads and subfolders create their parents. */
function ownFolders(folders: OpOf<'make-remote'>[], uploads: readonly OpOf<'upload'>[]): OpOf<'make-remote'>[] {
  const made = new Set([...uploads, ...folders].flatMap(({ key }) => foldersAbove(key)))
  return folders.filter(({ key }) => !made.has(key))
}

const {
  upload,
  upload_batch,
  download,
  download_batch,
  mkdir,
  files_batch,
  delete: remove,
  move,
} = contract.syncFiles.actions

/** The rate limits of each operation, single and batched. */
const limitsOf: Partial<Record<Op['op'], { single: string; company: string }>> = {
  upload: { single: upload.limit, company: upload_batch.limit },
  download: { single: download.limit, company: download_batch.limit },
  'make-remote': { single: mkdir.limit, company: files_batch.limit },
  'remove-remote': { single: remove.limit, company: files_batch.limit },
  'move-remote': { single: move.limit, company: files_batch.limit },
}

/** How many requests of each limited kind a plan needs, if all goes well. */
export function requestsOf(means: ScheduleContext, ops: readonly Op[]): Map<string, number> {
  const requests = new Map<string, number>()
  const add = (limit: string, count: number): void => {
    if (count > 0) requests.set(limit, (requests.get(limit) ?? 0) + count)
  }
  const removals = ops.filter((op): op is OpOf<'remove-remote'> => op.op === 'remove-remote')
  const [files, folders] = [
    removals.filter(({ kind }) => kind === 'file'),
    removals.filter(({ kind }) => kind === 'dir'),
  ]
  const { files_batch: offer } = means.capabilities
  const plans: [Op['op'], Schedule<Op>][] = [
    ...(Object.entries(schedule(means, ops)) as [Op['op'], Schedule<Op>][]),
    ['move-remote', { groups: moveGroups(ops, offer?.operations), rest: [] }],
    ['remove-remote', { groups: chunks<Op>(files, offer?.operations), rest: [] }],
    ['remove-remote', { groups: chunks<Op>(folders, offer?.ifEmpty ? offer.operations : 1), rest: [] }],
  ]
  for (const [kind, { groups, rest }] of plans) {
    const { single: alone, company } = limitsOf[kind]!
    const grouped = groups.filter((group) => group.length > 1).length
    add(company, grouped)
    add(alone, groups.length - grouped + rest.length)
  }
  return requests
}

/** Moves on the server as requests; those of a cycle take two, through a staging name. */
function moveGroups(ops: readonly Op[], size: number | undefined): Op[][] {
  return splitByBatchable(ops.filter(isMove)).flatMap((stretch): Op[][] => {
    if (stretch.every(isBatchable)) return chunks<Op>(stretch, size)
    return stretch.filter(({ op }) => op === 'move-remote').flatMap((op) => [[op], [op]])
  })
}

/** The rate limit of an operation sent on its own. */
export const limitOf = (op: Op): string | undefined => limitsOf[op.op]?.single
