import { readdir, readFile } from 'node:fs/promises'

// The memory that a process and all its descendants use together, where no control group counts it.

const KIB = 1_024

/** What only a process itself, or shared memory, takes up: the files of programs are everybody's. */
function ownMemory(status: string): number {
  let sum = 0
  for (const [, kib] of status.matchAll(/^Rss(?:Anon|Shmem):\s+(\d+) kB$/gm)) sum += Number(kib) * KIB
  return sum
}

/** A file of /proc; empty once its process is gone. */
const read = (path: string): Promise<string> => readFile(path, 'utf8').catch(() => '')

async function childrenOf(pid: number): Promise<number[]> {
  const threads = await readdir(`/proc/${pid}/task`).catch(() => [])
  const lists = await Promise.all(threads.map((thread) => read(`/proc/${pid}/task/${thread}/children`)))
  return lists.flatMap((list) => list.split(' ').filter(Boolean).map(Number))
}

/** Bytes that a process and its descendants use; pages that they share count for each. */
export async function memoryOfTree(root: number): Promise<number> {
  let sum = 0
  for (let level = [root]; level.length > 0;) {
    const statuses = await Promise.all(level.map((pid) => read(`/proc/${pid}/status`)))
    for (const status of statuses) sum += ownMemory(status)
    level = (await Promise.all(level.map(childrenOf))).flat()
  }
  return sum
}
