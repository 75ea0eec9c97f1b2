import type { DataDirectory } from '../../wiring/installation/data-directory.ts'
import type { Io } from '../io.ts'

/** Warns of a place for backups that is lost together with the data. */
export async function warnIfInside(io: Io, place: string, directory: DataDirectory): Promise<void> {
  const { isInDataDirectory } = await import('../../wiring/installation/backup-place.ts')
  if (isInDataDirectory(place, directory))
    io.warn(
      `${place} is inside the data directory: its backups are lost together with the data. Give a folder on another disk.`,
    )
}
