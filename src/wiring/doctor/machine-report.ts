import { problemText } from '../../base/errors.ts'
import { diskSpace } from '../../host/disk-space.ts'
import type { HostStatus } from '../../http/host-status.ts'
import { DamagedBackup } from '../../storage/backups/backup-manifest.ts'
import { NoBackups, readRepository, repositoryAt } from '../../storage/backups/repository.ts'
import { checks, examine, opened, readiness } from './doctor.ts'
import { environment } from '../config/environment.ts'
import { openPlace } from '../installation/backup-place.ts'
import { keptKey } from '../installation/backup-keys.ts'
import type { Local } from '../local-domain.ts'
import { streamStatus } from '../backup-stream-status.ts'
import { measurementsOf } from '../measurements.ts'

const summaries = new Map(checks.map(({ id, summary }) => [id, summary]))

/** The backups in the folder of the settings, as far as the stored keys allow reading them. */
async function storedBackups({ domain, directory }: Local, most: number): ReturnType<HostStatus['storedBackups']> {
  const none = { count: 0, newest: [] }
  const folder = (await domain.instance.settings.values())['backup.to']
  if (folder === '') return none
  let close: (() => void) | undefined
  try {
    ;({ close } = openPlace(folder, environment))
    const header = await repositoryAt(folder)
    if (!header) return { ...none, error: new NoBackups(folder).message }
    const key = header.encrypted ? await keptKey(directory.path, folder, header.repository) : undefined
    if (header.encrypted && !key)
      return { ...none, error: `The backups in ${folder} are encrypted, and this installation has no key to them.` }
    const source = readRepository(folder, header, key)
    try {
      const ids = await source.ids()
      const newest = []
      let error: string | undefined
      for (const id of ids.toReversed().slice(0, most)) {
        try {
          const { created_at, version, totals, added } = await source.manifest(id)
          const { accounts, files, bytes } = totals
          newest.push({ id, created_at, version, accounts, files, bytes, added_bytes: added.bytes })
        } catch (damage) {
          if (!(damage instanceof DamagedBackup)) throw damage
          error ??= damage.message
        }
      }
      return { count: ids.length, newest, error }
    } finally {
      await source.close()
    }
  } catch (error) {
    return { ...none, error: problemText(error) }
  } finally {
    close?.()
  }
}

/** What the server reports about its machine. */
export const hostStatusOf = (local: Local): Omit<HostStatus, 'startBackupJob'> => ({
  backupStream: () => streamStatus(local.directory),
  readiness: () => readiness(local),
  measurements: measurementsOf(local),
  async examine() {
    const findings = [opened(local.directory.path), ...(await examine(local))]
    return findings.map(({ id, health, found, remedy }) => ({
      id,
      summary: summaries.get(id) ?? 'the data directory can be opened',
      health,
      found,
      ...(remedy !== undefined && { remedy }),
    }))
  },
  disk: () => diskSpace(local.directory.path),
  storedBackups: (most) => storedBackups(local, most),
})
