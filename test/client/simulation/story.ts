import type { Random } from '../../support/random.ts'
import type { Kind } from './disk/kinds.ts'
import { faults, type Fault } from './network.ts'
import type { Deed } from './users.ts'

export type Name = 'A' | 'B'

/** What happens, beside what the engine does by itself. */
export type Event =
  | ({ on: Name } & Deed)
  /**
   * Just before a call that a program makes to the disk, after so many others; only one whose name begins so. Where a path is `=`, the
   * next such call is awaited that has to do with one that users see; `=/..` is the folder over it. `kill` so many calls later the program is killed.
   */
  | { on: Name; do: 'meanwhile'; after: number; call: string; deed: Deed; kill?: number }
  | { on: Name; do: 'sync' }
  | { on: Name; do: 'look' }
  | { on: Name; do: 'interrupt' }
  | { on: Name; do: 'power_cut'; after: number; seed: number }
  /** So many calls after one whose name begins so and that has to do with what users see, or with the trash. */
  | { on: Name; do: 'cut_at'; call: string; more: number; seed: number }
  | { on: Name; do: 'network'; after: number; fault: Fault }
  /** So many calls fail, after so many others; of all that can fail, or those whose name begins so. */
  | { on: Name; do: 'disk'; after: number; code: string; calls: number; only: string; look?: boolean }
  /** The disk of the folder goes away in the middle: before a call whose name begins so, after so many others. */
  | { on: Name; do: 'away'; after: number; call: string }
  | { on: Name; do: 'unmount' }
  | { on: Name; do: 'mount' }
  /** What the client knew is gone. */
  | { on: Name; do: 'amnesia' }
  | { on: Name; do: 'pass'; ms: number }

/** Something that happens after so many turns of the scheduler. */
export type Turn = Event & { pause: number }

/** Everything that decides what happens: the same story always goes the same way. */
export interface Story {
  seed: number
  /** How wrong the clocks are, in milliseconds. */
  skew: Record<Name, number>
  /** The server offers nothing beyond the bare interface. */
  plain: boolean
  /** How each disk takes names; as they are written, if nothing is said. */
  disks?: Record<Name, Kind>
  /** What its names are about. */
  theme?: string
  turns: Turn[]
}

const NAMES = ['a', 'b', 'c']
const HOUR = 3_600_000

function pathOf(random: Random): string {
  const depth = 1 + random.below(random.below(3) + 1)
  return Array.from({ length: depth }, () => `/${random.of(NAMES)}`).join('')
}

const known = (random: Random): string => `?${random.below(1_000)}`

/** Mostly something that is there, else any path. */
const someplace = (random: Random): string => (random.below(3) > 0 ? known(random) : pathOf(random))

function deedOf(random: Random, number: number): Deed {
  const kind = random.below(20)
  if (kind < 9) {
    const large = random.below(100) === 0
    const filler = large ? 'x'.repeat(300_000) : 'x'.repeat(random.below(4) === 0 ? 0 : random.below(30))
    const path = random.below(2) === 0 ? known(random) : pathOf(random)
    return { do: 'write', path, content: `${number} ${filler}`, inPlace: random.below(2) === 0 }
  }
  if (kind < 12) return { do: 'remove', path: someplace(random) }
  if (kind < 13) return { do: 'folder', path: pathOf(random) }
  if (kind < 17) return { do: 'rename', path: known(random), to: pathOf(random) }
  if (kind < 18) return { do: 'swap', path: known(random), to: known(random) }
  if (kind < 19) return { do: 'copy', path: known(random), to: pathOf(random) }
  return random.below(4) === 0 ? { do: 'link', path: someplace(random) } : { do: 'remove', path: known(random) }
}

function meanwhile(random: Random, number: number): Deed {
  const deed = deedOf(random, number)
  return random.below(3) === 0 ? deed : { ...deed, path: '=' }
}

const MOMENTS = ['', '', '', 'rm', 'link', 'rename', 'open', 'lstatSync']
const CALLS = ['', '', 'readdir', 'readdir', 'open', 'write', 'rename', 'link', 'fsync', 'mkdir', 'rm']
const CODES = ['ENOSPC', 'EIO', 'EACCES', 'EMFILE', 'EROFS', 'EBUSY']

function eventOf(random: Random, number: number): Event {
  const on = random.of(['A', 'B'] as const)
  const kind = random.below(100)
  if (kind < 50) return { on, ...deedOf(random, number) }
  if (kind < 62) return { on, do: 'sync' }
  if (kind < 72) return { on, do: 'network', after: random.below(10), fault: random.of(faults) }
  if (kind < 81) return { on, do: 'power_cut', after: random.below(150), seed: random.below(1e9) }
  if (kind < 89) {
    const call = random.of(MOMENTS)
    return { on, do: 'meanwhile', after: random.below(call === '' ? 120 : 50), call, deed: meanwhile(random, number) }
  }
  if (kind < 92) {
    const calls = 1 + random.below(random.of([1, 30]))
    return { on, do: 'disk', after: random.below(120), code: random.of(CODES), calls, only: random.of(CALLS) }
  }
  if (kind < 93) return { on, do: 'interrupt' }
  if (kind < 95) return { on, do: 'pass', ms: random.below(random.of([10_000, 25 * HOUR])) }
  if (kind < 96) return { on, do: 'look' }
  if (kind < 98) return { on, do: random.of(['unmount', 'mount', 'mount']) }
  return { on, do: random.below(2) === 0 ? 'amnesia' : 'sync' }
}

/** Both synchronise, one after the other. */
const agree = (on: Name, other: Name): Turn[] => [
  { pause: 1_500, on, do: 'sync' },
  { pause: 1_500, on: other, do: 'sync' },
  { pause: 1_500, on, do: 'sync' },
]

/** What a story comes to now and then: a few things that have to do with each other. `on` and `other` are the machines. */
const scenes: ((random: Random, number: number, on: Name, other: Name) => Turn[])[] = [
  /** Things take each other's places, and the power fails while the other side, or the server, follows. */
  function exchange(random, number, on, other) {
    const cut = (name: Name, call: string): Turn => ({
      pause: 0,
      on: name,
      do: 'cut_at',
      call,
      more: random.below(12),
      seed: random.below(1e9),
    })
    return [
      { pause: 0, on, do: 'write', path: '/a', content: `${number} one`, inPlace: false },
      { pause: 0, on, do: 'write', path: '/b', content: `${number} two`, inPlace: false },
      ...agree(on, other),
      { pause: 1_500, on, do: 'swap', path: '/a', to: '/b' },
      random.below(2) === 0 ? cut(on, 'lstatSync') : { pause: 0, on, do: 'sync' },
      { pause: 1_500, on, do: 'sync' },
      { ...cut(other, 'renameSync'), pause: 1_500 },
      { pause: 1_500, on: other, do: 'sync' },
    ]
  },
  /** One side renames what the other one edits at the same moment. */
  function rivals(random, number, on, other) {
    const path = `/${random.of(NAMES)}`
    return [
      { pause: 0, on, do: 'write', path, content: `${number} first`, inPlace: false },
      ...agree(on, other),
      { pause: 1_500, on: other, do: 'write', path, content: `${number} second`, inPlace: true },
      { pause: 0, on, do: 'rename', path, to: `/new ${number}` },
      { pause: 0, on, do: 'sync' },
      { pause: random.below(20), on: other, do: 'sync' },
      { pause: random.below(300), on, do: 'sync' },
    ]
  },
  /** A file is deleted and comes back just as it was, while the power fails where its deletion is being followed. */
  function comeback(random, number, on, other) {
    const file: Deed = { do: 'write', path: `/back ${number}`, content: `${number} again`, inPlace: false }
    return [
      { pause: 0, on, ...file },
      ...agree(on, other),
      { pause: 1_500, on, do: 'remove', path: file.path },
      { pause: 0, on, do: 'sync' },
      { pause: 1_500, on: other, do: 'cut_at', call: 'renameSync', more: random.below(4), seed: random.below(1e9) },
      { pause: 1_500, on, ...file },
      { pause: 0, on, do: 'sync' },
      { pause: 1_500, on: other, do: 'sync' },
    ]
  },
  /** Somebody writes into a file at the moment in which it is replaced, and the program is killed right after. */
  function lastWord(random, number, on, other) {
    const path = `/${random.of(NAMES)}`
    const write = (what: string): Deed => ({ do: 'write', path, content: `${number} ${what}`, inPlace: true })
    return [
      { pause: 0, on, ...write('before') },
      ...agree(on, other),
      { pause: 1_500, on, ...write('other') },
      { pause: 0, on, do: 'sync' },
      {
        pause: 1_500,
        on: other,
        do: 'meanwhile',
        after: -1,
        call: 'renameSync',
        deed: { ...write('last'), path: '=' },
        kill: random.below(6),
      },
      { pause: 1_500, on: other, do: 'sync' },
    ]
  },
  /** The disk goes away while a run is at work, and comes back. */
  function away(random, number, on, other) {
    const after = random.below(60)
    return [
      { pause: 0, on, do: 'write', path: `/c/away ${number}`, content: `${number} away`, inPlace: false },
      { pause: 0, on, do: 'write', path: `/away ${number}`, content: `${number} near`, inPlace: false },
      ...agree(on, other),
      { pause: 1_500, on, do: 'away', after, call: random.of(['readdirSync', 'lstatSync', '']) },
      { pause: 1_500, on, do: 'mount' },
      { pause: 0, on, do: 'sync' },
    ]
  },
  /** A folder cannot be read for a while. */
  function blind(random, number, on, other) {
    const calls = 1 + random.below(4)
    return [
      { pause: 0, on, do: 'write', path: `/c/blind ${number}`, content: `${number} blind`, inPlace: false },
      ...agree(on, other),
      {
        pause: 1_500,
        on,
        do: 'disk',
        after: random.below(30),
        code: random.of(['EACCES', 'EIO']),
        calls,
        only: 'readdirSync',
        look: random.below(3) > 0,
      },
      { pause: 1_500, on, do: 'sync' },
    ]
  },
  /** Links to a place outside, where a folder was a moment ago or is about to be filled. */
  function links(random, number, on, other) {
    const deed: Deed = { do: 'link', path: '/c' }
    const call = random.of(['append', 'utimes', 'readdirSync'])
    const after = call === 'readdirSync' ? random.below(40) : -1
    return [
      { pause: 0, on, do: 'write', path: `/c/${number}`, content: `${number} linked`, inPlace: false },
      ...agree(on, other),
      { pause: 1_500, on: other, do: 'write', path: `/c/${number}`, content: `${number} later`, inPlace: false },
      { pause: 0, on: other, do: 'write', path: `/c/new ${number}`, content: `${number} new`, inPlace: false },
      { pause: 0, on: other, do: 'sync' },
      random.below(4) === 0
        ? { pause: 1_500, on, ...deed }
        : {
            pause: 1_500,
            on,
            do: 'meanwhile',
            after,
            call,
            deed: call === 'readdirSync' ? { ...deed, path: '=' } : deed,
          },
      { pause: 0, on, do: 'sync' },
    ]
  },
]

function scene(random: Random, number: number): Turn[] {
  const [on, other] = random.of<[Name, Name]>([
    ['A', 'B'],
    ['B', 'A'],
  ])
  return random.of(scenes)(random, number, on, other)
}

const MEETINGS = ['', 'lstatSync', 'link', 'rename', 'rm', 'open', 'mkdir']

/** One side changes something and says so; while the other takes it in, somebody there is at the same thing. */
function meeting(random: Random, number: number): Turn[] {
  const [on, other] = random.of([
    ['A', 'B'],
    ['B', 'A'],
  ] as const)
  const path = known(random)
  const change: Deed = random.of<Deed>([
    { do: 'write', path, content: `${number} first`, inPlace: false },
    { do: 'remove', path },
    { do: 'rename', path, to: pathOf(random) },
  ])
  const edit: Deed = { do: 'write', path: '=', content: `${number} second`, inPlace: random.below(2) === 0 }
  const deed = random.below(6) === 0 ? meanwhile(random, number) : edit
  const call = random.of(MEETINGS)
  return [
    { pause: 1_000, on: other, do: 'sync' },
    { pause: 1_000, on, ...change },
    { pause: 0, on, do: 'sync' },
    { pause: 1_000, on: other, do: 'meanwhile', after: random.below(90), call, deed },
  ]
}

/** A story that a seed tells: somebody fills a folder, both synchronise, and then it gets wild. */
export function tell(seed: number, random: Random): Story {
  const turns: Turn[] = []
  const add = (event: Event, pause = 0): void => void turns.push({ pause, ...event })
  const first = random.below(12)
  for (let at = 0; at < first; at += 1) {
    const content = `${at} ${'x'.repeat(random.below(20))}`
    add({ on: random.of(['A', 'A', 'B']), do: 'write', path: pathOf(random), content, inPlace: false })
  }
  if (random.below(4) > 0) for (const on of ['A', 'B', 'A'] as const) add({ on, do: 'sync' }, 4_000)
  const wild = 3 + random.below(20)
  for (let at = 0; at < wild; at += 1) {
    if (random.below(14) === 0) turns.push(...scene(random, first + at))
    if (random.below(12) === 0) turns.push(...meeting(random, first + at))
    add(eventOf(random, first + at), random.of([0, 0, random.below(5), random.below(40), random.below(300)]))
  }
  const skews = [0, 0, random.below(5_000), -random.below(5 * HOUR), random.below(30 * HOUR)]
  return { seed, skew: { A: random.of(skews), B: random.of(skews) }, plain: random.below(4) === 0, turns }
}
