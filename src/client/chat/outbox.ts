import { randomHex } from '../../base/random.ts'
import { teamChat } from '../../contract/team-chat.ts'
import type { Connection } from './connection.ts'
import type { Message } from './follow-room.ts'
import type { ChatState, Pending } from './state.ts'

interface OutboxParts {
  state: ChatState
  connection: Connection
  /** Told of each message that the server took. */
  sent: (message: Message) => void
  /** Told when one was refused for good. */
  refused: (pending: Pending, error: Error) => void
  changed: () => void
}

/** Own messages on their way: one after the other, again and again until each is taken once or refused for good. */
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
    /** An own message came in by another way: what is on its way with the same words has arrived. */
    arrived({ room_id, content }: Message): void {
      const found = state.pending.find((one) => one.room_id === room_id && one.content === content)
      if (found) forget(found)
    },
  }
}
