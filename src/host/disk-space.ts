import { statfs } from 'node:fs/promises'

/** Bytes of the file system that holds a path. `free` excludes what is reserved for root (statvfs `f_bavail`). */
export async function diskSpace(path: string): Promise<{ total: number; free: number }> {
  const { blocks, bavail, bsize } = await statfs(path)
  return { total: blocks * bsize, free: bavail * bsize }
}
