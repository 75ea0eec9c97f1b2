import { execFile } from 'node:child_process'
import { mkdir, open, rm, rmdir } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { onTestFinished } from 'vitest'
import { temporaryFolder } from './server.ts'

const run = promisify(execFile)

export interface SmallDisk {
  folder: string
  /** Makes it read-only. */
  freeze(): Promise<void>
}

/** Mounts a disk of some bytes and at most so many files and folders (0: any number); returns a reason if it cannot: mounting requires root on Linux. */
export async function smallDisk(bytes: number, files = 0): Promise<SmallDisk | { reason: string }> {
  if (process.platform !== 'linux') return { reason: 'only Linux mounts a disk in memory' }
  if (process.getuid?.() !== 0) return { reason: 'only root can mount a small disk' }
  const outer = await temporaryFolder()
  const folder = join(outer, 'disk')
  await mkdir(folder)
  try {
    await run('mount', ['-t', 'tmpfs', '-o', `size=${bytes},nr_inodes=${files},mode=0700`, 'svc-test', folder])
  } catch (error) {
    await rm(outer, { recursive: true })
    return { reason: `no small disk could be mounted: ${(error as Error).message.trim()}` }
  }
  onTestFinished(async () => {
    await run('umount', ['-l', folder])
    await rmdir(folder)
    await rmdir(outer)
  })
  return { folder, freeze: async () => void (await run('mount', ['-o', 'remount,ro', folder])) }
}

const MIB = 1 << 20

/** Fills a disk; the result frees the space. */
export async function fill(folder: string): Promise<() => Promise<void>> {
  const path = join(folder, 'filler')
  const file = await open(path, 'w')
  try {
    for (const size of [MIB, 4_096, 1]) {
      const piece = Buffer.alloc(size)
      while (await file.write(piece).then(({ bytesWritten }) => bytesWritten === size, isFull));
    }
  } finally {
    await file.close()
  }
  return () => rm(path)
}

function isFull(error: NodeJS.ErrnoException): false {
  if (error.code === 'ENOSPC') return false
  throw error
}
