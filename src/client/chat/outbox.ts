import { randomHex } from '../../base/random.ts'
import { teamChat } from '../../contract/team-chat.ts'
import type { Connection } from './connection.ts'
import type { Message } from './room-feed.ts'
import type { ChatState, Pending } from './chat-state.ts'

interface OutboxParts {
  state: ChatState
  connection: Connection
  /** Called for each message that the server accepted. */
  sent: (message: Message) => void
  /** Called when one is rejected permanently. */
  refused: (pending: Pending, error: Error) => void
  changed: () => void
}

/** Outgoing messages: sent in order, each retried until it is accepted or rejected permanently. */
export function makeOutbox({ state, connection, sent, refused, changed }: OutboxParts) {
  let last: Promise<void> = Promise.resolve()

  async function deliver(pending: Pending): Promise<void> {
    const { room_id, content, client_id, reply_to } = pending
    const params = { room_id, content, client_id, ...(reply_to === undefined ? {} : { reply_to }) }
    try {
      const { message } = await connection.persist(() =>
        connection.api.call(teamChat.actions.send, params, { repeatable: true }),
      )
      forget(pending)
      sent(message)
    } catch (error) {
      forget(pending)
      refused(pending, error as Error)
    } finally {
      changed()
    }
  }

  function forget(pending: Pending): void {
    state.pending = state.pending.filter((one) => one !== pending)
  }

  return {
    post(room_id: number, content: string, reply_to: number | undefined): void {
      const pending = { client_id: randomHex(16), room_id, content, reply_to }
      state.pending = [...state.pending, pending]
      last = last.then(() => deliver(pending))
      changed()
    },
    /** An own message arrived: a pending one with the same text was delivered. */
    arrived({ room_id, content }: Message): void {
      const found = state.pending.find((one) => one.room_id === room_id && one.content === content)
      if (found) forget(found)
    },
  }
}
