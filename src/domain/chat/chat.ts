import type { Clock } from '../../base/clock.ts'
import { stampsOf } from '../../storage/chat/rooms.ts'
import type { Database } from '../../storage/engine/database.ts'
import type { Audit } from '../instance/instance.ts'
import { makeWaiters } from '../waiters.ts'
import { makeMessageChanges } from './message-changes.ts'
import { makeMembership } from './membership.ts'
import { makeRoomAdministration } from './room-administration.ts'
import { makePoll } from './poll.ts'
import { makePresence } from './presence.ts'
import { makeMessageHistory } from './message-history.ts'
import { makeRoomRemoval } from './room-removal.ts'
import { makeRooms } from './rooms.ts'
import type { Heavy } from '../heavy.ts'
import { makeSend, type MessageListener } from './send.ts'
import { makeAssistantReplies } from './assistant-replies.ts'

export type { RoomOverview } from './room-administration.ts'
export type { Author } from './author.ts'
export { inviteIn, openRoomIn } from './membership.ts'
export { postIn, type MessageListener } from './send.ts'
export { assertContent, readRoomName } from './message-text.ts'

interface Deps {
  database: Database
  /** The database without the caller's authority check. */
  unattended: Database
  /** Runs a slice of background work. */
  slice: Heavy['patientSlice']
  clock: Clock
  audit: Audit
  /** Receives new messages. */
  listener: MessageListener
  checkIntervalMs?: number | undefined
}

/** Team chat: rooms, members, messages and presence. */
export function makeChat({ database, unattended, slice, clock, audit, listener, checkIntervalMs }: Deps) {
  const removal = makeRoomRemoval({ unattended, clock, slice })
  const waiters = makeWaiters({
    hear: (hearer) => database.listen('room', hearer),
    heads: (rooms) => stampsOf(database.read, rooms),
    checkIntervalMs,
  })
  return {
    ...makeRooms({ database }),
    ...makeMembership({ database, clock, audit, removal }),
    ...makeMessageHistory({ database }),
    ...makeSend({ database, clock, listener }),
    ...makeMessageChanges({ database, clock, audit }),
    ...makePoll({ database, clock, waiters }),
    ...makePresence({ database, clock }),
    assistantReplies: makeAssistantReplies({ database, clock }),
    administration: makeRoomAdministration({ database, clock, audit, removal }),
    /** Finishes leaving and deleting rooms that a crash interrupted. */
    finishRemovals: removal.finishAll,
    /** Ends waiting requests. */
    close: waiters.close,
  }
}

export type Chat = ReturnType<typeof makeChat>
