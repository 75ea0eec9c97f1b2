import type { Clock } from '../../base/clock.ts'
import { stampsOf } from '../../storage/chat-rooms.ts'
import type { Database } from '../../storage/database.ts'
import type { Audit } from '../instance/instance.ts'
import { makeNews } from '../news.ts'
import { makeMessageChanges } from './change-message.ts'
import { makeMembership } from './membership.ts'
import { makeOversight } from './oversight.ts'
import { makePoll } from './poll.ts'
import { makePresence } from './presence.ts'
import { makeRead } from './read.ts'
import { makeRooms } from './rooms.ts'
import { makeSend, type Listener } from './send.ts'
import type { Tell } from './tell.ts'
import { makeVoice } from './voice.ts'

export type { RoomOverview } from './oversight.ts'
export type { Author } from './author.ts'
export { inviteIn, openRoomIn } from './membership.ts'
export { postIn, type Listener } from './send.ts'
export { assertContent, readRoomName } from './text.ts'

interface Parts {
  database: Database
  clock: Clock
  audit: Audit
  /** Tells waiting requests that an account's feed moved. */
  announce: (user: number) => void
  /** Hears what is said. */
  listener: Listener
}

/** Rooms of people and what they say in them. */
export function makeChat({ database, clock, audit, announce, listener }: Parts) {
  const news = makeNews((rooms) => stampsOf(database.read, rooms))
  const tell: Tell = (room, feeds) => {
    news.announce(room)
    for (const user of feeds) announce(user)
  }
  return {
    ...makeRooms({ database }),
    ...makeMembership({ database, clock, audit, tell }),
    ...makeRead({ database }),
    ...makeSend({ database, clock, tell, listener }),
    ...makeMessageChanges({ database, clock, tell }),
    ...makePoll({ database, clock, news }),
    ...makePresence({ database, clock, tell }),
    voice: makeVoice({ database, clock, tell }),
    oversight: makeOversight({ database, clock, audit, tell }),
    /** Lets waiting requests go. */
    close: news.close,
  }
}

export type Chat = ReturnType<typeof makeChat>
