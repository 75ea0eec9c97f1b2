import type { Failure } from '../../wire/protocol.ts'
import { words } from './words.ts'

/** Why the desktop stopped a component. */
export const reasonOf = (failure: Failure): string =>
  failure.kind === 'threw' ? words('threw', failure.message) : words(failure.kind)
