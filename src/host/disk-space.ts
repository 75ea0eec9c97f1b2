import { statfs } from 'node:fs/promises'

/** Total and available bytes of the disk that holds a path. */
export async function diskSpace(path: string): Promise<{ total: number; free: number }> {
  const { blocks, bavail, bsize } = await statfs(path)
  return { total: blocks * bsize, free: bavail * bsize }
}
