import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { DAY, type Clock } from '../../../src/base/clock.ts'
import { makeFiles, type Files } from '../../../src/domain/files/files.ts'
import { makeSettings } from '../../../src/domain/instance/instance.ts'
import { makeUpkeep } from '../../../src/domain/instance/upkeep.ts'
import { makeSync, shapes, type Sync } from '../../../src/domain/sync/sync.ts'
import { makeContents, type Contents } from '../../../src/storage/contents/contents.ts'
import type { Database } from '../../../src/storage/engine/database.ts'
import { migrate } from '../../../src/storage/engine/migrations/migrate.ts'
import { ensureTables } from '../../../src/storage/engine/synchronised-tables.ts'
import { openSqlite } from '../../../src/storage/engine/sqlite.ts'
import type { Random } from '../../support/random.ts'
import type { Life, SimulatedDisk } from './disk.ts'
import type { Faults } from './faults.ts'
import { makeSimulatedLog, type SimulatedLog } from './log.ts'

/** A server process without HTTP. */
export interface Process {
  life: Life
  folder: string
  database: Database
  log: SimulatedLog
  contents: Contents
  files: Files
  sync: Sync
  upkeep: ReturnType<typeof makeUpkeep>
  /** Units that wait for their commit at this moment. */
  waiting(): number
}

const nothingSealed = {
  seal: (_name: string, text: string) => text,
  unseal: (_name: string, text: string) => text,
}

/** A database whose units are refused now and then, as by a disk that fills up in the middle of one. */
function withFaults(database: Database, random: Random, faults: Faults): { database: Database; waiting: () => number } {
  let waiting = 0
  let began = 0
  return {
    waiting: () => waiting,
    database: {
      ...database,
      async write(scope, unit) {
        const refused = random.below(25) === 0
        waiting += 1
        const before = began
        try {
          return await database.write(scope, async (tx) => {
            if (began > before + 1) faults.met('units shared a commit')
            began += 1
            const value = await unit(tx)
            if (refused) throw new Error('The simulated unit is refused.')
            return value
          })
        } finally {
          waiting -= 1
          if (refused) faults.met('unit refused')
        }
      },
    },
  }
}

export async function startProcess(
  folder: string,
  { disk, clock, random, faults }: { disk: SimulatedDisk; clock: Clock; random: Random; faults: Faults },
): Promise<Process> {
  const life: Life = { isOver: false }
  const log = makeSimulatedLog(folder, random, faults)
  const opened = openSqlite(join(folder, 'svc.db'), { flush: 'background', flushFile: log.flush })
  await migrate(opened)
  await ensureTables(opened, shapes)
  const { database, waiting } = withFaults(opened, random, faults)
  const contents = makeContents(database, disk.storeFor(life))
  const settings = makeSettings(opened, { values: { 'retention.versions_days': 1 }, sources: {} }, clock, nothingSealed)
  const allowance = () =>
    Promise.resolve({ defaultQuota: -1, maxFileSize: -1, retention: 30 * DAY, maxNodes: 500_000, historyShare: 0.5 })
  const files = makeFiles({ database, unattended: database, contents, clock, allowance })
  const sync = makeSync({ database, clock, epoch: () => 'epoch' })
  const upkeep = makeUpkeep({ database, contents, history: files.history, clock, settings })
  return { life, folder, database: opened, log, contents, files, sync, upkeep, waiting }
}

/** Cuts the power of a process; the folder gets what the disk has kept. */
export function crash(process: Process, disk: SimulatedDisk, folder: string, faults: Faults): void {
  process.life.isOver = true
  faults.met('crash')
  if (process.waiting() > 0) faults.met('crash while a unit waited for its commit')
  mkdirSync(folder)
  process.log.cutPower(folder)
  disk.crash()
}
