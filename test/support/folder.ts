import { mkdtemp, statfs } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const MEMORY = '/dev/shm'
const ROOM = 1024 ** 3

/** The folder for temporary folders: in memory if possible. */
export async function temporaryRoot(): Promise<string> {
  const memory = await statfs(MEMORY).then(
    ({ bavail, bsize }) => bavail * bsize > ROOM,
    () => false,
  )
  return memory ? MEMORY : tmpdir()
}

/** A new folder, in memory if possible: tests that need a disk create one. */
export const temporaryFolder = async (): Promise<string> => mkdtemp(join(await temporaryRoot(), 'svc-test-'))
