import type * as random from '../../../../src/base/random.ts'

type Random = typeof random

type Hex = (bytes: number) => string

let seeded: (() => Hex | undefined) | undefined

/** Who draws random names, asked each time; undefined for the platform's generator. */
export const decideNames = (by: (() => Hex | undefined) | undefined): void => void (seeded = by)

/** Stands for `base/random.ts`: a seed decides the names that clients draw, so that one seed is one story. */
export const overlay = (actual: Random): Random => ({
  ...actual,
  randomHex: (bytes) => (seeded?.() ?? actual.randomHex)(bytes),
})
