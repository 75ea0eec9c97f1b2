import type { SignedIn } from './devices.ts'
import type { InSession } from './sessions.ts'

/** The authenticated caller: a device with its token, or a browser with its session. */
export type Caller = SignedIn | InSession

export const isInSession = (caller: Caller): caller is InSession => 'session' in caller
