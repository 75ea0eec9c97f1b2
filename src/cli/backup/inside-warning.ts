import type { DataDirectory } from '../../wiring/installation/data-directory.ts'
import type { Io } from '../io.ts'

/** Warns of a place for backups that is lost together with the data. */
export async function warnIfInside(io: Io, place: string, directory: DataDirectory): Promise<void> {
  const [{ placeOf }, { isInDataDirectory }] = await Promise.all([
    import('../../wiring/backups/backup-locations.ts'),
    import('../../wiring/installation/backup-place.ts'),
  ])
  if (isInDataDirectory(placeOf(place), directory))
    io.warn(
      `${place} is inside the data directory: its backups are lost together with the data. Give a folder on another disk.`,
    )
}
