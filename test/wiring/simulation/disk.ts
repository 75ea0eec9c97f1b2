import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import { DiskFull } from '../../../src/base/errors.ts'
import { putBy, TooLarge, type BlobStore } from '../../../src/storage/contents/blobs/blobs.ts'
import type { Random } from '../../support/random.ts'
import type { Faults } from './faults.ts'

interface Blob {
  bytes: Buffer
  touched: number
  /** Whether a crash spares it. */
  isFlushed: boolean
}

/** One run of a process, from its start to a crash or to the end of the story. */
export interface Life {
  isOver: boolean
}

/** Lets others have their turn. Never resolves in a process that is no more. */
export async function turns(life: Life, count: number): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) await new Promise((resolve) => setImmediate(resolve))
  if (life.isOver) await new Promise(() => undefined)
}

/** The disk of a blob store, which outlives the processes that use it. */
export interface SimulatedDisk {
  /** The store as a process sees it. */
  storeFor(life: Life): BlobStore
  /** Forgets what was not flushed. */
  crash(): void
}

interface Surroundings {
  random: Random
  faults: Faults
  now: () => number
  /** Called while the collector removes these bytes. */
  whileRemoving(bytes: Buffer): void
}

export function makeDisk({ random, faults, now, whileRemoving }: Surroundings): SimulatedDisk {
  const blobs = new Map<string, Blob>()
  /** Contents that the collector is just removing. */
  const removing = new Set<string>()
  const someTurns = (life: Life) => turns(life, random.below(5))

  async function gather(source: AsyncIterable<Uint8Array>, max: number): Promise<Buffer> {
    const pieces: Uint8Array[] = []
    let size = 0
    for await (const piece of source) {
      size += piece.length
      if (size > max) throw new TooLarge(`More than ${max} bytes.`)
      pieces.push(piece)
    }
    return Buffer.concat(pieces)
  }

  async function keep(life: Life, sha256: string, bytes: Buffer): Promise<void> {
    await someTurns(life)
    if (random.below(12) === 0) {
      faults.met('blob store full')
      throw new DiskFull('The simulated disk is full.')
    }
    if (removing.has(sha256)) faults.met('content stored again while it was collected')
    const known = blobs.get(sha256)
    if (known) known.touched = now()
    else blobs.set(sha256, { bytes, touched: now(), isFlushed: false })
    await someTurns(life)
    const blob = blobs.get(sha256) ?? { bytes, touched: now(), isFlushed: true }
    blobs.set(sha256, { ...blob, isFlushed: true })
  }

  const receiveFor =
    (life: Life): BlobStore['receive'] =>
    async (source, max) => {
      const bytes = await gather(source, max)
      const sha256 = createHash('sha256').update(bytes).digest('hex')
      return {
        sha256,
        size: bytes.length,
        publish: () => keep(life, sha256, bytes),
        drop: () => Promise.resolve(),
      }
    }

  const storeFor = (life: Life): BlobStore => ({
    receive: receiveFor(life),
    put: putBy(receiveFor(life)),
    read(sha256, range) {
      const blob = blobs.get(sha256)
      if (!blob) {
        const missing = new Readable({ read: () => undefined })
        missing.on('error', () => undefined)
        missing.destroy(Object.assign(new Error(`There is no content ${sha256}.`), { code: 'ENOENT' }))
        return missing
      }
      return Readable.from([range ? blob.bytes.subarray(range.start, range.end + 1) : blob.bytes])
    },
    save: () => Promise.reject(new Error('No backup of the simulation copies files.')),
    has: async (sha256) => {
      await someTurns(life)
      return blobs.has(sha256)
    },
    size: (sha256) => Promise.resolve(blobs.get(sha256)?.bytes.length),
    async remove(sha256, before) {
      await someTurns(life)
      const blob = blobs.get(sha256)
      if (!blob || blob.touched >= before) return false
      removing.add(sha256)
      blobs.delete(sha256)
      faults.met('content collected')
      if (random.below(2) === 0) whileRemoving(blob.bytes)
      await turns(life, random.below(200))
      removing.delete(sha256)
      return true
    },
    async *list() {
      for (const [sha256, { bytes, touched }] of blobs) {
        await someTurns(life)
        yield { sha256, size: bytes.length, touched }
      }
    },
    owner: () => Promise.resolve('simulation'),
    claim: () => Promise.resolve(),
    check: () => Promise.resolve(),
    close: () => Promise.resolve(),
  })

  return {
    storeFor,
    crash() {
      removing.clear()
      for (const [sha256, { isFlushed }] of blobs) {
        if (isFlushed) continue
        faults.met('crash while a content was not flushed')
        blobs.delete(sha256)
      }
    },
  }
}
