import type { Workspace } from './workspace.ts'

/** Target of a figure: minimum or maximum ratio of ours to the peer's value. */
export type Wanted = { least: number } | { most: number } | undefined

/** Measured values of all rounds, side by side. */
export interface Rounds {
  ours: number[]
  peer: number[]
  /** Additional information. */
  note?: string
}

/** A measured property of the service, as a ratio to a peer or to a limit measured in the same run. */
export interface Figure {
  name: string
  /** Unit of both values. */
  unit: string
  /** What it is compared with. */
  peer: string
  /** Undefined if the ratio is for information only. */
  wanted: Wanted
  /** Returns which required program is not installed; the figure is then skipped. */
  missing?: () => string | undefined
  measure(workspace: Workspace): Promise<Rounds>
}

/** A figure with its values: medians over the rounds, and the median of the rounds' ratios. */
export interface Measured extends Pick<Figure, 'name' | 'unit' | 'wanted'> {
  against: string
  ours: number
  peer: number
  ratio: number
  /** Smallest and largest ratio of a round: the noise of the machine. */
  spread: [number, number]
  /** Undefined without a target. */
  met: boolean | undefined
  note?: string
}

/** The median; for an even number, the upper of the two middle values. */
export const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!

/** Summarizes the rounds of a figure. */
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
