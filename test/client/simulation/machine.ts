import type { FastifyInstance } from 'fastify'
import { makeApi } from '../../../src/client/api.ts'
import type { MaxDelete } from '../../../src/client/sync/plan/deletion-guard.ts'
import type { Summary, SyncEvent } from '../../../src/client/sync/report/events.ts'
import { initRoot } from '../../../src/client/sync/state/root.ts'
import { runSync } from '../../../src/client/sync/sync-run.ts'
import type { Random } from '../../support/random.ts'
import { Disk } from './disk/disk.ts'
import type { Kind } from './disk/kinds.ts'
import { beginProcess, mountDisk, WORLD } from './disk/mounts.ts'
import { PowerCut } from './disk/errors.ts'
import { ADDRESS, makeNetwork, type Fault } from './network.ts'
import type { Scheduler } from './scheduler.ts'
import type { AccountIdentity } from '../../../src/client/auth/account-identity.ts'
import type { Sleep } from '../../../src/base/sleep.ts'

/** Where the synchronised folder is on a machine's disk. */
export const HOME = '/home'

/** How a run ended. */
export type Ending = { summary: Summary } | { error: unknown }

export interface Run {
  ended: Ending | undefined
  /** Whether the end was taken note of. */
  seen: boolean
  /** Of a run that only looks: whether it left everything as it was. */
  mustNotChange?: () => boolean
  interrupt: () => void
}

interface Parts {
  name: string
  app: FastifyInstance
  scheduler: Scheduler
  random: Random
  token: string
  owner: AccountIdentity
  /** How its disk takes names. */
  kind: Kind
  /** How wrong the machine's clock is, in milliseconds. */
  skew: number
  /** The server offers nothing beyond the bare interface. */
  plain: boolean
  /** The server did what a machine asked for; which one, if it still waits for that. */
  onServed: (machine: Machine | undefined) => void
}

/** A computer with a synchronised folder, which can lose its power. */
export class Machine {
  readonly name: string
  disk: Disk
  run: Run | undefined
  isOff = false
  /** What happens to the requests to come, by how many come before. */
  faults: { after: number; fault: Fault }[] = []
  readonly #parts: Parts

  constructor(parts: Parts) {
    this.#parts = parts
    this.name = parts.name
    this.disk = new Disk(`${WORLD}/${parts.name}`, () => this.now(), parts.kind)
    mountDisk(this.disk)
  }

  now = (): number => this.#parts.scheduler.now() + this.#parts.skew

  get root(): string {
    return `${this.disk.mount}${HOME}`
  }

  get isRunning(): boolean {
    return this.run !== undefined && this.run.ended === undefined
  }

  #account() {
    return { url: ADDRESS, username: 'ada', token: this.#parts.token, profile: 'default' }
  }

  init(): Promise<unknown> {
    const { owner, name } = this.#parts
    const names = { url: ADDRESS, username: 'ada', device_name: name }
    return initRoot({ path: this.root, stateFolder: this.#stateFolder, owner, ...names, adopt: false, secrets: [] })
  }

  get #stateFolder(): string {
    return `${this.disk.mount}/state`
  }

  /** Begins a run; what it came to is in `run` afterwards. */
  sync(
    emit: (event: SyncEvent) => void,
    { maxDelete, dryRun = false }: { maxDelete?: MaxDelete; dryRun?: boolean },
  ): void {
    const { scheduler, token } = this.#parts
    beginProcess()
    const controller = new AbortController()
    const run: Run = { ended: undefined, seen: false, interrupt: () => controller.abort(new Error('Interrupted.')) }
    this.run = run
    runSync({
      path: this.root,
      stateFolder: this.#stateFolder,
      api: makeApi({ url: ADDRESS, token, transport: this.#transport() }),
      account: this.#account(),
      dryRun,
      maxDelete,
      clock: { now: this.now },
      sleep: this.#sleep(scheduler),
      signal: controller.signal,
      emit,
    }).then(
      (summary) => void (run.ended = { summary }),
      (error: unknown) => {
        if (!(error instanceof PowerCut)) run.ended = { error }
      },
    )
  }

  #transport() {
    const { app, scheduler, random, plain } = this.#parts
    const { disk, run } = this
    const isStill = (): boolean => this.disk === disk && this.run === run
    const onServed = (isLate: boolean) => this.#parts.onServed(!isLate && isStill() ? this : undefined)
    const nextFault = (): Fault | undefined => {
      for (const each of this.faults) each.after -= 1
      const at = this.faults.findIndex(({ after }) => after < 0)
      return at < 0 ? undefined : this.faults.splice(at, 1)[0]!.fault
    }
    return makeNetwork({ app, disk, scheduler, random, plain, onServed, nextFault })
  }

  #sleep(scheduler: Scheduler): Sleep {
    return (ms, signal) =>
      new Promise((resolve, reject) => {
        const stop = (): void => {
          scheduler.cancel(timer)
          reject(signal!.reason as Error)
        }
        const timer = scheduler.timer(ms, () => {
          signal?.removeEventListener('abort', stop)
          resolve()
        })
        if (signal?.aborted) stop()
        else signal?.addEventListener('abort', stop, { once: true })
      })
  }

  /** The power fails: what runs here is no more, and of the disk there is what a power cut leaves. */
  cut(random: Random): void {
    const { disk } = this
    disk.dead = true
    this.run = undefined
    this.isOff = true
    this.disk = disk.afterCut(random)
  }

  /** The machine is on again. */
  restart(): void {
    this.isOff = false
    mountDisk(this.disk)
  }
}
