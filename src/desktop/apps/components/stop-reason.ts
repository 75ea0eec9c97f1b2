import type { Failure } from '../../wire/protocol.ts'
import { words } from './words.ts'

/** Describes why a component was stopped. */
export const describeFailure = (failure: Failure): string =>
  failure.kind === 'error' ? words('error', failure.message) : words(failure.kind)
