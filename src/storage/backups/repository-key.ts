import { readAll, openBytes } from './file-bytes.ts'
import { DamagedBackup } from './backup-manifest.ts'
import { openPool, poolKeys } from './object-pool.ts'
import { readRepository } from './repository.ts'
import { openSealed } from './stream-cipher.ts'

/** Objects that are tried with a key that opens no manifest. */
const TRIED = 8

/** Whether a key opens any backup of an encrypted repository, or an object if all manifests are damaged; true if there is neither. */
export async function opensRepository(folder: string, key: Uint8Array): Promise<boolean> {
  const keys = poolKeys(key)
  const pool = openPool(folder, keys)
  const source = readRepository(folder, { encrypted: true }, key)

  async function openObject(name: string): Promise<void> {
    const file = await openBytes(pool.pathOf(name))
    try {
      await readAll((await openSealed(keys.data, file, 'The object')).read(0, 1))
    } finally {
      await file.close()
    }
  }

  async function opens(attempts: readonly string[], open: (name: string) => Promise<unknown>): Promise<boolean> {
    for (const name of attempts) {
      try {
        await open(name)
        return true
      } catch (error) {
        if (!(error instanceof DamagedBackup)) throw error
      }
    }
    return false
  }

  const ids = (await source.ids()).reverse()
  if (await opens(ids, source.manifest)) return true
  const names = [...(await pool.stored()).keys()]
  if (ids.length + names.length === 0) return true
  return opens(names.slice(0, TRIED), openObject)
}
