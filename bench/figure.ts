import type { Workspace } from './workspace.ts'

/** What a figure should come to: the ratio of ours to the peer's, at least or at most. */
export type Wanted = { least: number } | { most: number } | undefined

/** What was measured in the rounds of one figure, ours and the peer's side by side. */
export interface Rounds {
  ours: number[]
  peer: number[]
  /** What else is worth telling. */
  note?: string
}

/** One thing worth knowing about the service, as a ratio to a peer or a limit that is measured in the same run. */
export interface Figure {
  name: string
  /** Of both values. */
  unit: string
  /** What it is compared with. */
  peer: string
  /** Undefined where the ratio is only for information. */
  wanted: Wanted
  /** Says what is not installed that it needs; then it is left out. */
  missing?: () => string | undefined
  measure(workspace: Workspace): Promise<Rounds>
}

/** A figure with its values: medians over the rounds, and the ratio as median of the rounds' own ratios. */
export interface Measured extends Pick<Figure, 'name' | 'unit' | 'wanted'> {
  against: string
  ours: number
  peer: number
  ratio: number
  /** Smallest and largest ratio of a round: how much the machine wavered. */
  spread: [number, number]
  /** Undefined where nothing is wanted. */
  met: boolean | undefined
  note?: string
}

/** The value in the middle; of an even number, the upper of the two. */
export const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!

/** Reduces the rounds of a figure to what is reported. */
export function judge({ name, unit, peer, wanted }: Figure, rounds: Rounds): Measured {
  const ratios = rounds.ours.map((value, round) => value / rounds.peer[round]!)
  const ratio = median(ratios)
  return {
    name,
    unit,
    against: peer,
    ours: median(rounds.ours),
    peer: median(rounds.peer),
    ratio,
    spread: [Math.min(...ratios), Math.max(...ratios)],
    wanted,
    met: wanted && ('least' in wanted ? ratio >= wanted.least : ratio <= wanted.most),
    ...(rounds.note === undefined ? {} : { note: rounds.note }),
  }
}
