import { copyFileSync, existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Random } from '../../support/random.ts'
import type { Faults } from './faults.ts'

/** What a disk writes at once. */
const SECTOR = 512
/** The header of a write-ahead log; it changes when the log begins anew (sqlite.org/fileformat2.html#walformat). */
const HEADER = 32

/** The write-ahead log of a database on a disk that keeps what was flushed and, after a power cut, any part of the rest. */
export interface SimulatedLog {
  /** Flushes what is in the log now, after some turns. */
  flush(): Promise<void>
  /** Another process has flushed everything. */
  flushed(): void
  isFlushing(): boolean
  /** Copies database and log as they may be on the disk when the power is cut at this moment. */
  cutPower(target: string): void
}

export function makeSimulatedLog(folder: string, random: Random, faults: Faults): SimulatedLog {
  const [file, log] = [join(folder, 'svc.db'), join(folder, 'svc.db-wal')]
  const read = () => (existsSync(log) ? readFileSync(log) : Buffer.alloc(0))
  const stateOfFile = () => statSync(file, { bigint: true, throwIfNoEntry: false })?.mtimeNs
  let onDisk = { log: read(), file: stateOfFile() }
  let flushing = 0

  /** Sectors of the log that were not flushed are on the disk or not, each by chance. */
  function torn(now: Buffer): Buffer {
    const image = Buffer.alloc(now.length)
    onDisk.log.copy(image)
    let differs = false
    for (let at = 0; at < now.length; at += SECTOR) {
      const sector = now.subarray(at, at + SECTOR)
      if (image.subarray(at, at + SECTOR).equals(sector)) continue
      differs = true
      if (random.below(2) === 0) sector.copy(image, at)
    }
    if (differs) faults.met('power cut while a commit was not flushed')
    return image
  }

  return {
    async flush() {
      flushing += 1
      const now = { log: read(), file: stateOfFile() }
      for (let turn = random.below(8); turn > 0; turn -= 1) await new Promise((resolve) => setImmediate(resolve))
      onDisk = now
      flushing -= 1
    },
    flushed: () => void (onDisk = { log: read(), file: stateOfFile() }),
    isFlushing: () => flushing > 0,
    cutPower(target) {
      const now = read()
      // A checkpoint flushes the log before it writes to the database, and the database before the log begins anew.
      const isAnew = !now.subarray(0, HEADER).equals(onDisk.log.subarray(0, HEADER))
      if (isAnew) onDisk.log = now.subarray(0, HEADER)
      else if (stateOfFile() !== onDisk.file) onDisk.log = now
      if (existsSync(file)) copyFileSync(file, join(target, 'svc.db'))
      if (now.length > 0) writeFileSync(join(target, 'svc.db-wal'), torn(now))
    },
  }
}
