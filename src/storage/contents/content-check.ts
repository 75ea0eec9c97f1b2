import { createHash } from 'node:crypto'
import type { BlobStore } from './blobs/blobs.ts'
import type { KnownContents } from './blobs/owned-blobs.ts'
import { first, prepared, type Database, type Reader } from '../engine/database.ts'

export type ContentProblem =
  | 'missing'
  /** The length differs from the recorded one. */
  | 'size'
  /** The hash differs. */
  | 'damaged'
  /** The store has them but cannot read them. */
  | 'unreadable'

/** Detects contents that were damaged outside svc. */
export interface ContentCheck {
  /** The next contents after a hash, in order, and their sizes in bytes. */
  page(after: string, limit: number): Promise<{ sha256: string; size: number }[]>
  sum(): Promise<{ contents: number; bytes: number }>
  /** Undefined without a problem, or if removed meanwhile. `quick` checks only existence and size. */
  problemOf(sha256: string, quick: boolean): Promise<ContentProblem | undefined>
}

const contentQuery = prepared<{ sha256: string }, { size: number; data: Uint8Array | null }>(({ q, p }) =>
  q.selectFrom('contents').select(['size', 'data']).where('sha256', '=', p.sha256),
)

const pageQuery = prepared<{ after: string; limit: number }, { sha256: string; size: number }>(({ q, p }) =>
  q.selectFrom('contents').select(['sha256', 'size']).where('sha256', '>', p.after).orderBy('sha256').limit(p.limit),
)

const sha256Of = (data: Uint8Array): string => createHash('sha256').update(data).digest('hex')

export const knownContents = ({ q }: Reader): KnownContents => {
  const stored = q.selectFrom('contents').select('sha256').where('data', 'is', null).limit(1)
  return {
    any: async (sha256s) => (await stored.where('sha256', 'in', sha256s).executeTakeFirst()) !== undefined,
    some: async () => (await stored.executeTakeFirst()) !== undefined,
  }
}

export function makeContentCheck({ read }: Pick<Database, 'read'>, blobs: BlobStore): ContentCheck {
  const present = async (sha256: string): Promise<boolean> =>
    (await first(contentQuery(read, { sha256 }))) !== undefined

  async function hashOf(sha256: string): Promise<string> {
    const hash = createHash('sha256')
    for await (const piece of blobs.read(sha256)) hash.update(piece as Uint8Array)
    return hash.digest('hex')
  }

  async function problemOfBlob(sha256: string, size: number, quick: boolean): Promise<ContentProblem | undefined> {
    const stored = await blobs.size(sha256)
    if (stored === undefined) return 'missing'
    if (stored !== size) return 'size'
    try {
      return quick || (await hashOf(sha256)) === sha256 ? undefined : 'damaged'
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      if (code === 'ENOENT') return 'missing'
      if (code === 'EIO' || code === 'EACCES' || code === 'EPERM') return 'unreadable'
      throw error
    }
  }

  return {
    page: (after, limit) => pageQuery(read, { after, limit }),

    async sum() {
      const row = await read.q
        .selectFrom('contents')
        .select(({ fn }) => [fn.countAll().as('contents'), fn.sum('size').as('bytes')])
        .executeTakeFirstOrThrow()
      return { contents: Number(row.contents), bytes: Number(row.bytes) }
    },

    async problemOf(sha256, quick) {
      const row = await first(contentQuery(read, { sha256 }))
      if (!row) return undefined
      if (row.data) {
        if (row.data.length !== row.size) return 'size'
        return quick || sha256Of(row.data) === sha256 ? undefined : 'damaged'
      }
      const problem = await problemOfBlob(sha256, row.size, quick)
      // The collector deletes the row first: without one, nothing misses the bytes. It may also have put the blob back.
      if (problem === undefined || !(await present(sha256))) return undefined
      return problem === 'missing' ? problemOfBlob(sha256, row.size, quick) : problem
    },
  }
}
