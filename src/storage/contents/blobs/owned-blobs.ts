import { putBy, type BlobStore } from './blobs.ts'

/** A store belongs to another installation, or to none that is known; the message says what to do. */
export class ForeignContents extends Error {
  override name = 'ForeignContents'
  readonly exitCode = 8
  readonly reason = 'foreign_contents'
}

const ADOPT = 'If they do belong to it, run svc storage adopt.'

const foreign = (): ForeignContents =>
  new ForeignContents(
    `The place of the contents belongs to another installation: mount the right disk, or name the right bucket. ${ADOPT}`,
  )

/** Rejects a store that another installation uses, or whose database was lost. */
export async function assertOwnedBy(blobs: BlobStore, owner: string | undefined): Promise<void> {
  const found = await blobs.owner()
  if (found !== undefined && found !== owner) throw foreign()
}

/** What the rows say about contents in a store. */
export interface KnownContents {
  /** Whether any of these has a row. */
  any(sha256s: readonly string[]): Promise<boolean>
  /** Whether any row names a content in the blob store. */
  some(): Promise<boolean>
}

/** Contents compared with the rows if a store has no owner. */
const SAMPLE = 200

async function assertAdoptable(blobs: BlobStore, known: KnownContents): Promise<void> {
  const sample: string[] = []
  for await (const { sha256 } of blobs.list()) if (sample.push(sha256) === SAMPLE) break
  if (sample.length === 0) {
    if (!(await known.some())) return
    throw new ForeignContents(
      'The place of the contents is empty, and the database names some: is its disk mounted, or another bucket meant? To go on without them, run svc storage adopt.',
    )
  }
  if (await known.any(sample)) return
  throw new ForeignContents(`The database knows none of the contents in the place that the settings name. ${ADOPT}`)
}

/** Writes only as the store's owner: compares the installation's ID before the first write and with every `check`. */
export function ownedBlobs(blobs: BlobStore, owner: string, known: KnownContents): BlobStore {
  async function assertOwn(): Promise<void> {
    const found = await blobs.owner()
    if (found === owner) return
    if (found === undefined) {
      await assertAdoptable(blobs, known)
      await blobs.claim(owner)
      // Another installation may have claimed it at the same moment; the last claim wins.
      if ((await blobs.owner()) === owner) return
    }
    throw foreign()
  }

  let checked: Promise<void> | undefined
  const once = (): Promise<void> =>
    (checked ??= assertOwn().catch((error: unknown) => {
      checked = undefined
      throw error
    }))

  // Check before receiving, too: what cannot be published need not be received.
  const receive: BlobStore['receive'] = async (source, max) => {
    await once()
    return blobs.receive(source, max)
  }

  return {
    ...blobs,
    receive,
    put: putBy(receive),
    async remove(sha256, before) {
      await once()
      return blobs.remove(sha256, before)
    },
    async check() {
      await blobs.check()
      await assertOwn()
    },
  }
}
