import { rmSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export interface TemporaryFolder {
  path: string
  remove(): Promise<void>
}

/** Creates a folder for this process. It is deleted by `remove`, or when the process exits. */
export async function makeTemporaryFolder(prefix: string, parent = tmpdir()): Promise<TemporaryFolder> {
  const path = await mkdtemp(join(parent, prefix))
  const removeAtExit = (): void => rmSync(path, { recursive: true, force: true })
  process.once('exit', removeAtExit)
  return {
    path,
    async remove() {
      await rm(path, { recursive: true, force: true })
      process.off('exit', removeAtExit)
    },
  }
}
