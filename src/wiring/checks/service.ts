import { formatSize } from '../../base/sizes.ts'
import { failure, fine, warning, type Check } from './finding.ts'

// The service itself: its database, its contents, whether anybody can sign in.

const database: Check = {
  id: 'database',
  summary: 'the database keeps what it acknowledges',
  async look({ domain }) {
    const { engine, version, ...settings } = await domain.instance.describe()
    // The engine refuses to open with anything weaker; this says with what it runs.
    const shown = Object.entries(settings).map(([name, value]) => `${name}=${value}`)
    return fine(`${engine} ${version}, ${shown.join(', ')}`)
  },
}

const migrations: Check = {
  id: 'migrations',
  summary: 'the schema is that of this version',
  async look({ domain }) {
    // They are applied when the data directory is opened; a database from the future is not opened at all.
    const applied = await domain.instance.migrations()
    return fine(`up to date with ${applied.at(-1)}`)
  },
}

const storage: Check = {
  id: 'storage',
  summary: 'database and contents answer',
  async look({ domain }) {
    try {
      await domain.instance.check()
      return fine('database and contents answer')
    } catch (error) {
      return failure((error as Error).message, 'see that the disk is there and writable, or that the store answers')
    }
  },
}

const orphanedBlobs: Check = {
  id: 'orphaned-blobs',
  summary: 'every blob belongs to a file',
  async look({ domain }) {
    const { blobs, bytes, refusal } = await domain.instance.orphans()
    if (refusal !== undefined) return failure(refusal, 'svc storage gc --dry-run shows what it is about')
    if (blobs === 0) return fine('every blob belongs to a file')
    const found = `${blobs} blobs (${formatSize(bytes)}) that no file points to`
    return { ...warning(found, 'svc storage gc'), fix: async () => void (await domain.instance.upkeep()) }
  },
}

const administrator: Check = {
  id: 'administrator',
  summary: 'somebody can administer the service',
  look: async ({ domain }) =>
    (await domain.instance.isSetUp())
      ? fine('there is an administrator')
      : warning('there is none, so nobody can sign in', 'svc user add NAME --role admin'),
}

const assistant: Check = {
  id: 'assistant',
  summary: 'the models of the assistant answer',
  async look({ domain }) {
    const { isWell, found, remedy = '' } = await domain.assistant.diagnose()
    return isWell ? fine(found) : warning(found, remedy)
  },
}

export const serviceChecks: readonly Check[] = [database, migrations, storage, orphanedBlobs, administrator, assistant]
