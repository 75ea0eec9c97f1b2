import type { Clock } from '../../base/clock.ts'
import { stampsOf } from '../../storage/chat/rooms.ts'
import type { Database } from '../../storage/engine/database.ts'
import type { Audit } from '../instance/instance.ts'
import { makeWaiters } from '../waiters.ts'
import { makeMessageChanges } from './change-message.ts'
import { makeMembership } from './membership.ts'
import { makeOversight } from './oversight.ts'
import { makePoll } from './poll.ts'
import { makePresence } from './presence.ts'
import { makeRead } from './read.ts'
import { makeRooms } from './rooms.ts'
import { makeSend, type MessageListener } from './send.ts'
import { makeAssistantReplies } from './assistant-replies.ts'

export type { RoomOverview } from './oversight.ts'
export type { Author } from './author.ts'
export { inviteIn, openRoomIn } from './membership.ts'
export { postIn, type MessageListener } from './send.ts'
export { assertContent, readRoomName } from './text.ts'

interface Parts {
  database: Database
  clock: Clock
  audit: Audit
  /** Hears what is said. */
  listener: MessageListener
  checkIntervalMs?: number | undefined
}

/** Rooms of people and what they say in them. */
export function makeChat({ database, clock, audit, listener, checkIntervalMs }: Parts) {
  const news = makeWaiters({
    hear: (hearer) => database.listen('room', hearer),
    heads: (rooms) => stampsOf(database.read, rooms),
    checkIntervalMs,
  })
  return {
    ...makeRooms({ database }),
    ...makeMembership({ database, clock, audit }),
    ...makeRead({ database }),
    ...makeSend({ database, clock, listener }),
    ...makeMessageChanges({ database, clock, audit }),
    ...makePoll({ database, clock, news }),
    ...makePresence({ database, clock }),
    voice: makeAssistantReplies({ database, clock }),
    oversight: makeOversight({ database, clock, audit }),
    /** Lets waiting requests go. */
    close: news.close,
  }
}

export type Chat = ReturnType<typeof makeChat>
