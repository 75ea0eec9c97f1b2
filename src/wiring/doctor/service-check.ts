import { iso } from '../../base/clock.ts'
import { Busy } from '../../base/errors.ts'
import { formatSize } from '../../base/sizes.ts'
import { findingText } from '../../contract/finding-texts.ts'
import { failure, fine, warning, type Check } from './finding.ts'

// Checks of the service: database, contents, whether anybody can sign in.

const database: Check = {
  id: 'database',
  summary: 'the database keeps what it acknowledges',
  async runChecks({ domain }) {
    await domain.instance.checkDatabase()
    const { engine, version, ...settings } = await domain.instance.describe()
    // The engine refuses weaker settings; this reports the current ones.
    const shown = Object.entries(settings).map(([name, value]) => `${name}=${value}`)
    return fine(`${engine} ${version}, ${shown.join(', ')}`)
  },
}

const migrations: Check = {
  id: 'migrations',
  summary: 'the schema is that of this version',
  async runChecks({ domain }) {
    // Migrations run when the data directory is opened; a newer database is not opened at all.
    const applied = await domain.instance.migrations()
    return fine(findingText('migrations_applied', { name: applied.at(-1) ?? '' }))
  },
}

const storage: Check = {
  id: 'storage',
  summary: 'the store of large files answers',
  async runChecks({ domain }) {
    try {
      await domain.instance.checkContents()
      return fine(findingText('storage_sound'))
    } catch (error) {
      // A failure that passes: the server answers all but large files meanwhile.
      const grade = error instanceof Busy ? warning : failure
      return grade((error as Error).message, findingText('remedy_storage'))
    }
  },
}

const orphanedBlobs: Check = {
  id: 'orphaned-blobs',
  summary: 'every blob belongs to a file',
  async runChecks({ domain }) {
    const { blobs, bytes, refusal } = await domain.instance.orphans()
    if (refusal !== undefined) return failure(refusal, findingText('remedy_blobs'))
    if (blobs === 0) return fine(findingText('blobs_sound'))
    const found = findingText('blobs_orphaned', { count: blobs, size: formatSize(bytes) })
    return { ...warning(found, 'svc storage gc'), fix: async () => void (await domain.instance.upkeep()) }
  },
}

const administrator: Check = {
  id: 'administrator',
  summary: 'the service has an administrator',
  runChecks: async ({ domain }) =>
    (await domain.instance.isSetUp())
      ? fine(findingText('administrator_exists'))
      : warning(findingText('administrator_missing'), 'svc user add NAME --role admin'),
}

const maintenance: Check = {
  id: 'maintenance',
  summary: 'maintenance does not last by mistake',
  async runChecks({ domain }) {
    const declared = await domain.instance.settings.maintenance()
    if (declared === undefined) return fine(findingText('maintenance_off'))
    if (declared.until !== null) return fine(findingText('maintenance_until', { time: iso(declared.until) }))
    return warning(findingText('maintenance_on'), 'svc maintenance off')
  },
}

const assistant: Check = {
  id: 'assistant',
  summary: 'the models of the assistant answer',
  async runChecks({ domain }) {
    const { isWell, found, remedy = '' } = await domain.assistant.diagnose()
    return isWell ? fine(found) : warning(found, remedy)
  },
}

export const serviceChecks: readonly Check[] = [
  database,
  migrations,
  storage,
  orphanedBlobs,
  administrator,
  maintenance,
  assistant,
]
