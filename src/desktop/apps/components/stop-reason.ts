import type { Failure } from '../../wire/protocol.ts'
import { words } from './words.ts'

/** Why the desktop stopped a component. */
export const describeFailure = (failure: Failure): string =>
  failure.kind === 'error' ? words('error', failure.message) : words(failure.kind)
