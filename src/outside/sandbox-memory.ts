import { readdir, readFile } from 'node:fs/promises'

// Measures the memory of a process and its descendants where no control group does.

const KIB = 1_024

/** Private and shared memory of a process, without mapped files. */
function ownMemory(status: string): number {
  let sum = 0
  for (const [, kib] of status.matchAll(/^Rss(?:Anon|Shmem):\s+(\d+) kB$/gm)) sum += Number(kib) * KIB
  return sum
}

/** A file of /proc; empty once the process is gone. */
const read = (path: string): Promise<string> => readFile(path, 'utf8').catch(() => '')

async function childrenOf(pid: number): Promise<number[]> {
  const threads = await readdir(`/proc/${pid}/task`).catch(() => [])
  const lists = await Promise.all(threads.map((thread) => read(`/proc/${pid}/task/${thread}/children`)))
  return lists.flatMap((list) => list.split(' ').filter(Boolean).map(Number))
}

/** Bytes used by a process and its descendants; shared pages count for each. */
export async function memoryOfTree(root: number): Promise<number> {
  let sum = 0
  for (let level = [root]; level.length > 0;) {
    const statuses = await Promise.all(level.map((pid) => read(`/proc/${pid}/status`)))
    for (const status of statuses) sum += ownMemory(status)
    level = (await Promise.all(level.map(childrenOf))).flat()
  }
  return sum
}
