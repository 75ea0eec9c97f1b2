import { statfs } from 'node:fs/promises'

/** Bytes of the disk that holds a path: all there are, and what this user may still write. */
export async function diskSpace(path: string): Promise<{ total: number; free: number }> {
  const { blocks, bavail, bsize } = await statfs(path)
  return { total: blocks * bsize, free: bavail * bsize }
}
