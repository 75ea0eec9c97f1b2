import type { Answer } from '../../contract/define.ts'
import { MAX_WAIT } from '../../contract/limits.ts'
import { teamChat } from '../../contract/team-chat.ts'
import type { Api } from '../api.ts'
import { isTemporary, type makeConnectivity } from '../http/connectivity.ts'

export type Polled = Answer<typeof teamChat.actions.poll>
export type Message = Polled['messages'][number]

/** Longer than the server holds a poll, milliseconds: what takes longer got lost. */
const GRACE_MS = 15_000

export interface Following {
  api: Api
  room: number
  /** What happened after this moment is told (ISO 8601). */
  after: string
  signal: AbortSignal
  connectivity: ReturnType<typeof makeConnectivity>
}

/**
 * What happens in a room from a moment on, without end and without gaps: one request is held open at a time, and a server
 * that is away, restarts or is under maintenance is waited for. Throws when it is aborted, and what waiting does not mend,
 * such as `forbidden` for who is no longer in the room.
 */
export async function* followRoom({ api, room, after, signal, connectivity }: Following): AsyncGenerator<Polled> {
  let position = after
  for (;;) {
    const polled = await ask(position)
    if (!polled) continue
    position = polled.timestamp
    yield polled
  }

  async function ask(from: string): Promise<Polled | undefined> {
    signal.throwIfAborted()
    const gotThrough = connectivity.attempt()
    try {
      const params = { room_id: room, after: from, wait: MAX_WAIT }
      const answer = await api.call(teamChat.actions.poll, params, { signal, timeout: MAX_WAIT * 1_000 + GRACE_MS })
      gotThrough()
      return answer
    } catch (error) {
      if (signal.aborted || !isTemporary(error)) throw error
      await connectivity.backOff(error)
      return undefined
    }
  }
}
