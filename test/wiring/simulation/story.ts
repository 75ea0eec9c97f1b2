import { mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { vi } from 'vitest'
import { DAY, HOUR } from '../../../src/base/clock.ts'
import { censusOf } from '../../../src/storage/backups/census.ts'
import { CollectorRefused } from '../../../src/storage/contents/collector-guard.ts'
import { collectorIsHeld, holdCollector } from '../../../src/storage/contents/collector-holds.ts'
import { openCopy } from '../../../src/storage/engine/sqlite-copy.ts'
import { openSqlite } from '../../../src/storage/engine/sqlite.ts'
import { storeSetting } from '../../../src/storage/instance/settings.ts'
import { temporaryRoot } from '../../support/folder.ts'
import { makeRandom, type Random } from '../../support/random.ts'
import { makeDisk, turns, type SimulatedDisk } from './disk.ts'
import type { Faults } from './faults.ts'
import { addAccount, assertInvariants, follow, PATHS, type AccountModel } from './model.ts'
import { crash, startProcess, type Process } from './process.ts'

/** Steps of one story; each begins one operation or is a fault. */
const STEPS = 120
/** Contents that stories put: large enough for the blob store, few enough that accounts share them. */
const CONTENTS = Array.from({ length: 6 }, (_, index) => Buffer.alloc(70_000 + index, index + 1))
const SMALL = Buffer.from('small')

/** The simulation refused it, on purpose. */
const isSimulated = (error: unknown): boolean =>
  error instanceof Error && /simulated|clock jumped|broke off/.test(error.message)

class Story {
  readonly random: Random
  readonly faults: Faults
  readonly clock = { now: () => Date.now() }
  readonly disk: SimulatedDisk
  readonly root: string
  readonly processes: Process[] = []
  accounts: AccountModel[] = []
  ending = new AbortController()
  running = new Set<Promise<void>>()
  failure: Error | undefined
  /** When each running upload began. */
  uploads = new Map<object, number>()
  /** The clock moved during an upload that a crash ended: what it stored may count as foreign from then on. */
  hasForeign = false
  serial = 0

  constructor(seed: number, root: string, faults: Faults) {
    this.random = makeRandom(seed)
    this.root = root
    this.faults = faults
    this.disk = makeDisk({
      random: this.random,
      faults,
      now: this.clock.now,
      whileRemoving: (bytes) => this.upload(this.random.of(this.accounts), bytes),
    })
  }

  get process(): Process {
    return this.processes.at(-1)!
  }

  async start(folder: string): Promise<void> {
    this.processes.push(await startProcess(folder, this))
  }

  async begin(): Promise<void> {
    await this.start(this.root)
    this.accounts = [await addAccount(this.process, 'ada'), await addAccount(this.process, 'bob')]
  }

  /** Starts an operation beside the others. What it throws fails the story, unless its process is over or it was refused. */
  run(operation: (process: Process) => Promise<void>): void {
    const { process } = this
    const promise = operation(process).catch((error: unknown) => {
      if (!process.life.isOver && !isSimulated(error)) this.failure ??= error as Error
    })
    const settled = promise.finally(() => this.running.delete(settled))
    this.running.add(settled)
  }

  /** The process ends without a word, and the next one finds what was on the disk. */
  async crash(): Promise<void> {
    const folder = join(this.root, `after-${this.processes.length}`)
    crash(this.process, this.disk, folder, this.faults)
    this.ending.abort()
    this.ending = new AbortController()
    this.running.clear()
    this.hasForeign ||= [...this.uploads.values()].some((begun) => begun !== this.clock.now())
    this.uploads.clear()
    for (const account of this.accounts) {
      account.device.isBusy = false
      for (const file of account.files.values()) file.isBusy = false
    }
    await this.start(folder)
    await this.check()
  }

  async check(): Promise<void> {
    for (const account of this.accounts) await assertInvariants(this.process, account)
  }

  async settle(): Promise<void> {
    this.ending.abort()
    this.ending = new AbortController()
    while (this.running.size > 0) await Promise.all(this.running)
    if (this.failure) throw this.failure
    await this.check()
  }

  push(account: AccountModel): void {
    const { random } = this
    const unknown = [...account.notes].filter(([, { isAcknowledged }]) => !isAcknowledged)
    const again = unknown.length > 0 && random.below(3) === 0
    const id = again ? random.of(unknown)[0] : crypto.randomUUID()
    const note = account.notes.get(id) ?? { title: `note ${(this.serial += 1)}`, isAcknowledged: false }
    account.notes.set(id, note)
    const operation = { operation: 'INSERT', table: 'svc_notes', op_id: id, data: { title: note.title } }
    this.run(async ({ sync, life }) => {
      const { results } = await sync.push(account.id, { operations: [operation] } as Parameters<typeof sync.push>[1])
      if (!life.isOver && results[0]!.ok) note.isAcknowledged = true
    })
  }

  async *body(bytes: Buffer, { life }: Process): AsyncGenerator<Uint8Array> {
    const breaksOff = this.random.below(10) === 0
    for (let at = 0; at < bytes.length; at += 16_384) {
      await turns(life, this.random.below(3))
      if (breaksOff && at > 0) {
        this.faults.met('body breaks off')
        throw new Error('The body broke off.')
      }
      yield bytes.subarray(at, at + 16_384)
    }
  }

  upload(account: AccountModel, bytes: Buffer = this.random.below(5) === 0 ? SMALL : this.random.of(CONTENTS)): void {
    const path = this.random.of(PATHS)
    const file = account.files.get(path)!
    if (file.isBusy) return
    file.isBusy = true
    const { uploads } = this
    const upload = {}
    uploads.set(upload, this.clock.now())
    this.run(async (process) => {
      try {
        const staged = await process.files.receive(this.body(bytes, process))
        await turns(process.life, this.random.of([0, 3, 60]))
        file.begun.add(staged.sha256)
        await process.files.write(account.id, path, { staged })
        if (process.life.isOver) return
        file.acknowledged = staged.sha256
        file.begun.clear()
      } finally {
        if (!process.life.isOver) {
          file.isBusy = false
          uploads.delete(upload)
        }
      }
    })
  }

  remove(account: AccountModel): void {
    const path = this.random.of(PATHS)
    const file = account.files.get(path)!
    if (file.isBusy) return
    file.isBusy = true
    this.run(async ({ files, life }) => {
      try {
        file.begun.add(null)
        await (this.random.below(2) === 0 ? files.remove(account.id, path) : files.erase(account.id, path))
        if (life.isOver) return
        file.acknowledged = null
        file.begun.clear()
      } finally {
        if (!life.isOver) file.isBusy = false
      }
    })
  }

  read(account: AccountModel): void {
    const { device } = account
    if (device.isBusy) return
    device.isBusy = true
    const before = device.cursor
    const wait = this.random.below(2) * 30
    this.run(async (process) => {
      if (process.log.isFlushing()) this.faults.met('read while a commit was not flushed')
      try {
        const head = await process.sync.head(account.id)
        if (!process.life.isOver) device.head = Math.max(device.head, head)
        const count = await follow(process, account, { wait, signal: this.ending.signal })
        if (wait > 0 && count > 0 && before > 0) this.faults.met('reader woken by a commit')
      } finally {
        if (!process.life.isOver) device.isBusy = false
      }
    })
  }

  collect(): void {
    this.run(async ({ upkeep, database }) => {
      if (await collectorIsHeld(database.read)) this.faults.met('collector kept away by a backup')
      await upkeep().catch((error: unknown) => {
        if (!this.hasForeign || !(error instanceof CollectorRefused)) throw error
      })
    })
  }

  /** As a backup does it: the collector is kept away, the database is copied, then every content it names is read. */
  backUp(): void {
    const file = join(this.root, `backup-${(this.serial += 1)}.db`)
    this.run(async ({ database, contents, life }) => {
      const hold = await holdCollector(database)
      await turns(life, this.random.below(4))
      await database.copyTo(file, { without: [] })
      const copy = openCopy(file)
      const { blobs } = await censusOf(copy.at).finally(() => copy.close())
      if (this.random.below(4) === 0) this.moveClock()
      let failure: Error | undefined
      try {
        for (const { sha256 } of blobs) {
          await turns(life, this.random.below(4))
          for await (const _ of (await contents.read(sha256)) as AsyncIterable<unknown>);
        }
      } catch (error) {
        failure = error as Error
      }
      // A backup whose hold ended under it says so, and is made again.
      const hasEnded = await hold.renew().then(
        () => false,
        () => true,
      )
      if (hasEnded) this.faults.met('backup lost its hold')
      else if (failure) throw failure
      await hold.release()
    })
  }

  writeElsewhere(): void {
    this.run(async ({ folder, log }) => {
      const other = openSqlite(join(folder, 'svc.db'))
      try {
        await other.write('instance', (tx) => storeSetting(tx, 'assistant.name', '"elsewhere"'))
        log.flushed()
        this.faults.met('written by another process')
      } finally {
        await other.close()
      }
    })
  }

  moveClock(): void {
    const back = this.random.below(4) === 0
    this.faults.met(back ? 'clock backwards' : 'clock forwards')
    vi.setSystemTime(this.clock.now() + (back ? -HOUR : this.random.of([HOUR, 2 * DAY, 2 * DAY])))
  }

  async step(): Promise<void> {
    const account = this.random.of(this.accounts)
    const kind = this.random.below(100)
    if (kind < 28) this.push(account)
    else if (kind < 55) this.upload(account)
    else if (kind < 63) this.remove(account)
    else if (kind < 80) this.read(account)
    else if (kind < 87) this.collect()
    else if (kind < 91) this.backUp()
    else if (kind < 94) this.writeElsewhere()
    else if (kind < 97) this.moveClock()
    else if (kind < 98) await this.settle()
    else await this.crash()
    await turns(this.process.life, this.random.below(6))
    if (this.failure) throw this.failure
  }

  async close(): Promise<void> {
    this.ending.abort()
    for (const { sync, database, life } of this.processes) {
      life.isOver = true
      sync.close()
      await database.close()
    }
  }
}

/** Plays the story of a seed. Throws what does not hold. */
export async function playStory(seed: number, faults: Faults): Promise<void> {
  const root = await mkdtemp(join(await temporaryRoot(), 'svc-test-'))
  const story = new Story(seed, root, faults)
  try {
    await story.begin()
    for (let step = 0; step < STEPS; step += 1) await story.step()
    await story.settle()
    await story.crash()
  } finally {
    await story.close()
    await rm(root, { recursive: true, force: true })
  }
}
