import { DiskFull } from '../../../src/base/errors.ts'
import { isFault } from '../../../src/contract/errors.ts'
import type { SyncEvent } from '../../../src/client/sync/report/events.ts'
import { Unreachable } from '../../../src/client/errors.ts'
import { makeRandom } from '../../support/random.ts'
import type { Disk } from './disk/disk.ts'
import { decideNames } from './disk/random.ts'
import { unmountAll } from './disk/mounts.ts'
import { systemError } from './disk/errors.ts'
import { decideTurns } from './disk/turns.ts'
import * as files from './disk/files.ts'
import * as invariants from './invariants.ts'
import { HOME, Machine, type Ending } from './machine.ts'
import { saw } from './seen.ts'
import { makeScheduler } from './scheduler.ts'
import type { Event, Name, Story } from './story.ts'
import { doDeed, latelyOn, OUTSIDE, removeLinks, renameApart, treeOf, type Deed, type Ledger } from './users.ts'
import type { ServerFiles, World } from './world.ts'
import { Refused } from '../../../src/client/refused.ts'
import { FolderLocked } from '../../../src/client/sync/sync-errors.ts'

/** What a story came to. */
export interface Played {
  /** What was broken; undefined when everything held. */
  problem: string | undefined
  /** The same for the same story. */
  hash: string
  /** Everything that happened, in order. */
  trace: readonly string[]
}

const NAMES: readonly Name[] = ['A', 'B']
const BEGINNING = Date.UTC(2026, 10, 21, 12)
/** More turns than any story takes. */
const TURNS = 40_000
/** Turns in which what began last goes on undisturbed by anything new. */
const LAST = 2_000
/** Rounds of both machines in which everything must have come to rest. */
const ROUNDS = 8
/** More names than any story leaves to be told apart. */
const APART = 200

/** What lies in wait for the calls of a program. */
type Armed = { after: number } & (
  | { what: 'power_cut'; seed: number }
  | { what: 'kill' }
  | { what: 'cut_at'; call: string; more: number; seed: number }
  | { what: 'deed'; call: string; deed: Deed; kill?: number | undefined }
  | { what: 'away'; call: string }
  | { what: 'error'; code: string; calls: number; only: string }
)

/** Calls that can fail for want of room or rights. */
const CAN_FAIL = /^(mkdir|open|write|append|link|rename|fsync|sync|copy|read|rm)/

/** What users see, by the path of a call that has to do with it: the thing itself, or its place in the trash. */
const SPOT = /^\/home(?:\/\.svc\/trash\/[^/]+)?((?:\/(?!\.svc)[^/]+)+)$/

/** Stands in a deed for the place that a call has to do with, or for the folder over it. */
const PLACEHOLDER = /^(=|=\/\.\.)$/

/** The place that a deed is about, where it depends on a call. */
function placeOf(given: string, path: string): string {
  if (!PLACEHOLDER.test(given)) return given
  const spot = SPOT.exec(path)![1]!
  return given === '=' ? spot : spot.slice(0, spot.lastIndexOf('/')) || spot
}

const SEEN = /^\/home\/(?!\.svc\/)/

/** Plays a story on a server, and checks all the while and in the end that nothing is lost. */
export async function play(world: World, story: Story): Promise<Played> {
  const random = makeRandom(story.seed)
  const scheduler = makeScheduler(random, BEGINNING)
  world.time.now = scheduler.now
  const names = makeRandom(story.seed ^ 0x5eed)
  const hex = (bytes: number): string =>
    Array.from({ length: bytes }, () => names.below(256).toString(16).padStart(2, '0')).join('')
  const release = scheduler.takeTimers()
  decideNames(() => (scheduler.isInside() ? hex : undefined))
  decideTurns((disk, label, deed) => scheduler.enter(disk, label, deed))
  try {
    await new Play(world, story, scheduler, random).whole()
    return { problem: undefined, hash: scheduler.hash(), trace: scheduler.trace }
  } catch (error) {
    const problem = error instanceof invariants.Broken ? error.message : String((error as Error).stack)
    return { problem, hash: scheduler.hash(), trace: scheduler.trace }
  } finally {
    release()
    decideNames(undefined)
    decideTurns(undefined)
    unmountAll()
  }
}

class Play {
  readonly #world: World
  readonly #story: Story
  readonly #scheduler: ReturnType<typeof makeScheduler>
  readonly #random: ReturnType<typeof makeRandom>
  readonly #machines = new Map<Name, Machine>()
  readonly #armed: Record<Name, Armed[]> = { A: [], B: [] }
  readonly #ledger: Ledger = { written: new Set(), released: new Set(), taken: new Set(), parted: {}, lately: {} }
  #files: () => ServerFiles = () => new Map()
  /** The server's files after the last request that may have changed them. */
  #served: ServerFiles = new Map()
  #broken: unknown

  constructor(
    world: World,
    story: Story,
    scheduler: ReturnType<typeof makeScheduler>,
    random: ReturnType<typeof makeRandom>,
  ) {
    this.#world = world
    this.#story = story
    this.#scheduler = scheduler
    this.#random = random
  }

  async whole(): Promise<void> {
    const { tokens, owner, tree, files } = await this.#world.account()
    this.#files = files
    for (const name of NAMES) await this.#setUp(name, tokens[name], owner)
    for (const { pause, ...event } of this.#story.turns) {
      await this.#turns(pause)
      this.#scheduler.note(JSON.stringify(event))
      await this.#happen(event)
    }
    // What still lies in wait gets its chance.
    await this.#turns(LAST)
    await this.#comeToRest()
    invariants.atRest(
      NAMES.map((name) => this.#machines.get(name)!.disk),
      await tree(),
      this.#ledger,
    )
  }

  async #setUp(name: Name, token: string, owner: { server_id: string; user_id: number }): Promise<void> {
    const { app } = this.#world
    const { skew, plain, disks } = this.#story
    const kind = disks?.[name] ?? 'exact'
    const means = { app, scheduler: this.#scheduler, random: this.#random }
    const onServed = (by: Machine | undefined): void => this.#onServed(by)
    const machine = new Machine({ ...means, name, kind, token, owner, skew: skew[name], plain, onServed })
    this.#machines.set(name, machine)
    machine.disk.asUser(() => {
      files.mkdir(machine.disk, HOME)
      files.mkdir(machine.disk, OUTSIDE.folder)
      const file = files.open(machine.disk, OUTSIDE.file, 'w')
      files.write(file, Buffer.from(OUTSIDE.content))
    })
    let ready = false
    await this.#scheduler.begin(() => void machine.init().then(() => (ready = true)))
    while (!ready) if (!(await this.#scheduler.step())) throw new Error('Setting up waits for nothing.')
    machine.disk.settle()
    this.#watch(name)
  }

  /** Looks at everything that programs do on a machine, and lets come true what lies in wait. */
  #watch(name: Name): void {
    const { disk } = this.#machines.get(name)!
    const guard = (check: () => void): void => this.#guard(check)
    disk.witness = {
      onCall: (call, path) => this.#onCall(name, call, path),
      onName: (path, now, before) => guard(() => invariants.onName(path, now, before, this.#ledger)),
      onWrite: (inode) => guard(() => invariants.onWrite(disk, inode)),
      onLook: (path) => guard(() => invariants.onLook(disk, path, this.#ledger)),
    }
  }

  #guard(check: () => void): void {
    try {
      check()
    } catch (error) {
      this.#broken ??= error
      throw error
    }
  }

  #onServed(by: Machine | undefined): void {
    const before = this.#served
    this.#served = this.#files()
    if (by) this.#guard(() => invariants.onServed(before, this.#served, by.disk, this.#ledger))
  }

  #onCall(name: Name, call: string, path: string): void {
    const armed = this.#armed[name]
    for (const each of armed) each.after -= 1
    const due = armed.find((each) => each.after < 0 && this.#isMet(name, each, call, path))
    if (!due) return
    const isDone = due.what !== 'error' || (due.calls -= 1) <= 0
    if (isDone) armed.splice(armed.indexOf(due), 1)
    this.#strike(name, due, call, path)
  }

  /** Whether a call is one that something lies in wait for. */
  #isMet(name: Name, each: Armed, call: string, path: string): boolean {
    const { disk } = this.#machines.get(name)!
    if (each.what === 'power_cut' || each.what === 'kill') return true
    if (each.what === 'error') return call.startsWith(each.only) && CAN_FAIL.test(call)
    if (!call.startsWith(each.call)) return false
    if (each.what === 'cut_at') return SPOT.test(path)
    if (each.what === 'away') return SEEN.test(path)
    // Between the last look at a name and a rename to it no program can keep another one from giving it to something else.
    if (call === 'renameSync' && SEEN.test(path) && !mayPrecedeRename(disk, each.deed, path)) return false
    return !PLACEHOLDER.test(each.deed.path) || SPOT.test(path)
  }

  #strike(name: Name, each: Armed, call: string, path: string): void {
    saw(each.what === 'error' ? each.code : each.what)
    const { disk } = this.#machines.get(name)!
    const note = (text: string): void => this.#scheduler.note(`${name} ${text} ${call} ${path}`)
    switch (each.what) {
      case 'error':
        note(each.code)
        throw systemError(each.code, call, path)
      case 'deed': {
        const deed = { ...each.deed, path: placeOf(each.deed.path, path) }
        note(`meanwhile ${JSON.stringify(deed)} before`)
        doDeed(disk, deed, this.#ledger)
        if (each.kill !== undefined) this.#armed[name].push({ what: 'kill', after: each.kill })
        return
      }
      case 'away':
        note('its disk is away before')
        return this.#mount(disk, HOME)
      case 'cut_at':
        return void this.#armed[name].push({ what: 'power_cut', after: each.more, seed: each.seed })
      case 'kill':
        note('killed at')
        // What a system has in its cache outlasts its programs.
        disk.settle()
        return this.#cut(name, 0)
      case 'power_cut':
        note('power cut at')
        return this.#cut(name, each.seed)
    }
  }

  #mount(disk: Disk, absent: string | undefined): void {
    disk.absent = absent
    latelyOn(this.#ledger, disk).away = true
  }

  #cut(name: Name, seed: number): void {
    const machine = this.#machines.get(name)!
    const before = machine.disk
    machine.cut(makeRandom(seed))
    machine.faults = []
    try {
      invariants.afterCut(before, machine.disk, this.#ledger)
    } catch (error) {
      this.#broken ??= error
    }
  }

  /** Lets so many things happen, or as many as there are. */
  async #turns(count: number): Promise<void> {
    for (let turn = 0; turn < count; turn += 1) {
      const went = await this.#scheduler.step()
      this.#settleMachines()
      if (!went) return
    }
  }

  #settleMachines(): void {
    if (this.#broken !== undefined) throw this.#broken as Error
    for (const [name, machine] of this.#machines) {
      if (machine.isOff) {
        machine.restart()
        this.#watch(name)
      }
      const ended = machine.run?.ended
      if (ended && !machine.run!.seen) {
        machine.run!.seen = true
        this.#scheduler.note(`${name} ended ${describe(ended)}`)
        if ('error' in ended) assertExpected(ended.error)
        if (machine.run!.mustNotChange?.() === false) throw new invariants.Broken('A dry run changed something.')
      }
    }
    if (this.#scheduler.steps() > TURNS) throw new invariants.Broken('It never comes to rest.')
  }

  async #happen(event: Event): Promise<void> {
    const machine = this.#machines.get(event.on)!
    const { disk } = machine
    const armed = this.#armed[event.on]
    switch (event.do) {
      case 'sync':
      case 'look':
        await this.#ensureRunning(machine, event.do === 'look')
        break
      case 'interrupt':
        if (machine.isRunning) await this.#scheduler.begin(() => machine.run!.interrupt())
        break
      case 'power_cut':
        armed.push({ what: 'power_cut', ...event })
        await this.#ensureRunning(machine)
        break
      case 'cut_at':
        armed.push({ what: 'cut_at', after: -1, ...event })
        await this.#ensureRunning(machine)
        break
      case 'away':
        armed.push({ what: 'away', ...event })
        await this.#ensureRunning(machine)
        break
      case 'meanwhile':
        armed.push({ what: 'deed', ...event })
        await this.#ensureRunning(machine)
        break
      case 'disk':
        armed.push({ what: 'error', ...event })
        await this.#ensureRunning(machine, event.look)
        break
      case 'network':
        machine.faults.push({ after: event.after, fault: event.fault })
        await this.#ensureRunning(machine)
        break
      case 'unmount':
        this.#mount(disk, HOME)
        break
      case 'mount':
        this.#mount(disk, undefined)
        break
      case 'amnesia':
        // Nobody takes a file away from under a program that has it open.
        if (!machine.isRunning && disk.absent === undefined)
          disk.asUser(() => files.rm(disk, `${HOME}/.svc/state.db`, { force: true }))
        break
      case 'pass':
        this.#scheduler.pass(event.ms)
        break
      default:
        doDeed(disk, event, this.#ledger)
    }
    this.#settleMachines()
  }

  async #ensureRunning(machine: Machine, dryRun = false): Promise<void> {
    if (!machine.isRunning) await this.#begin(machine, dryRun)
  }

  async #begin(machine: Machine, dryRun: boolean, maxDelete?: 'any'): Promise<void> {
    const { changes, mount, absent } = machine.disk
    this.#ledger.lately[mount] = { paths: [], linked: false, away: absent !== undefined }
    const told = (event: SyncEvent): void => {
      if (event.event === 'plan') this.#guard(() => invariants.onPlanned(machine.disk, event, this.#ledger))
    }
    await this.#scheduler.begin(() => machine.sync(told, { dryRun, ...(maxDelete ? { maxDelete } : {}) }))
    const { run, disk } = machine
    if (run && dryRun) run.mustNotChange = () => disk.changes === changes
    this.#settleMachines()
  }

  /** Runs a machine to the end of its run. */
  async #finish(machine: Machine): Promise<Ending | undefined> {
    while (machine.isRunning) {
      if (!(await this.#scheduler.step())) throw new invariants.Broken(`${machine.name} waits for nothing.`)
      this.#settleMachines()
    }
    return machine.run?.ended
  }

  async #comeToRest(): Promise<void> {
    for (const name of NAMES) {
      const machine = this.#machines.get(name)!
      this.#armed[name] = []
      machine.faults = []
      machine.disk.absent = undefined
    }
    for (const machine of this.#machines.values()) await this.#finish(machine)
    // What had left before a power cut arrives.
    while (await this.#scheduler.step()) this.#settleMachines()
    for (const { disk } of this.#machines.values()) removeLinks(disk)
    await this.#untilQuiet()
    for (let number = 0; await this.#renameApart(() => `renamed ${(number += 1)}`);) {
      if (number > APART) throw new invariants.Broken('I2: names never come apart.')
    }
    for (const machine of this.#machines.values()) await this.#mustBeQuiet(machine)
  }

  /** Runs one machine after the other until none does anything; what is left out stays out. */
  async #untilQuiet(): Promise<void> {
    for (let round = 1; ; round += 1) {
      let quiet = true
      for (const machine of this.#machines.values()) quiet = (await this.#round(machine)) && quiet
      if (quiet) return
      if (round === ROUNDS) throw new invariants.Broken('I2: the machines never come to rest.')
    }
  }

  /** Somebody gives other names to what a machine leaves out; false when none leaves anything out. */
  async #renameApart(fresh: () => string): Promise<boolean> {
    for (const machine of this.#machines.values()) {
      const ended = machine.run?.ended
      if (!ended || !('summary' in ended) || ended.summary.skipped.length === 0) continue
      for (const { code } of ended.summary.skipped) saw(code)
      const paths = ended.summary.skipped.map(({ path }) => path)
      if (!renameApart(machine.disk, paths, fresh)) continue
      await this.#untilQuiet()
      return true
    }
    return false
  }

  /** One undisturbed run; whether there was nothing to do. Somebody who is asked whether so much is to be deleted says that it is. */
  async #round(machine: Machine): Promise<boolean> {
    const before = JSON.stringify(treeOf(machine.disk))
    await this.#begin(machine, false)
    let ended = await this.#finish(machine)
    if (ended && 'error' in ended && ended.error instanceof Refused && ended.error.reason === 'mass_delete') {
      if (JSON.stringify(treeOf(machine.disk)) !== before && ended.error.message.includes('Nothing was'))
        throw new invariants.Broken('I8: a run that was refused changed something.')
      await this.#begin(machine, false, 'any')
      ended = await this.#finish(machine)
    }
    if (!ended || 'error' in ended) throw new invariants.Broken(`An undisturbed run failed: ${describe(ended)}`)
    return isIdle(ended, this.#story.disks !== undefined)
  }

  async #mustBeQuiet(machine: Machine): Promise<void> {
    const before = JSON.stringify(treeOf(machine.disk))
    await this.#begin(machine, false)
    const ended = await this.#finish(machine)
    if (!ended || !isIdle(ended, this.#story.disks !== undefined) || JSON.stringify(treeOf(machine.disk)) !== before)
      throw new invariants.Broken(`I3: a run on quiet replicas did something: ${describe(ended)}`)
    if (!('summary' in ended) || ended.summary.requests > 2 || !ended.summary.in_sync)
      throw new invariants.Broken(`I3: a run on quiet replicas: ${describe(ended)}`)
  }
}

/** Only what is written into the very file that is there leaves the names as they are. */
function mayPrecedeRename(disk: Disk, deed: Deed, target: string): boolean {
  return deed.do === 'write' && deed.inPlace && disk.find('lstat', target, false).inode !== undefined
}

/** `leavesOut`: something may be left out because of its name. */
function isIdle(ended: Ending, leavesOut: boolean): boolean {
  if ('error' in ended) return false
  const { uploaded, downloaded, removed_here, removed_there, moved_here, moved_there, folders, skipped, conflicts } =
    ended.summary
  const counts = [uploaded.files, downloaded.files, removed_here, removed_there, moved_here, moved_there, folders]
  return [...counts, leavesOut ? 0 : skipped.length, conflicts.length].every((count) => count === 0)
}

function describe(ended: Ending | undefined): string {
  if (!ended) return 'by a power cut'
  if ('error' in ended) return `with ${String(ended.error)}`
  const { root: _, took_ms: __, ...rest } = ended.summary
  return JSON.stringify(rest)
}

/** Errors of the system that end a run. */
const OF_THE_SYSTEM = new Set(['ENOSPC', 'EIO', 'EACCES', 'EMFILE', 'EROFS', 'EBUSY', 'ENOENT'])

/** A run may end in many ways, but not with a fault of its own. */
function assertExpected(error: unknown): void {
  const isKnown =
    error instanceof Refused ||
    error instanceof FolderLocked ||
    error instanceof Unreachable ||
    error instanceof DiskFull ||
    isFault(error) ||
    OF_THE_SYSTEM.has(String((error as NodeJS.ErrnoException).code)) ||
    (error as Error).message === 'Interrupted.'
  if (!isKnown) throw new invariants.Broken(`A run ended with a fault of its own: ${String((error as Error).stack)}`)
}
