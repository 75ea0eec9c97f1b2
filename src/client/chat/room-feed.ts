import type { Answer } from '../../contract/define.ts'
import { MAX_WAIT } from '../../contract/limits.ts'
import { teamChat } from '../../contract/team-chat.ts'
import type { Api } from '../api.ts'
import { isTemporary, type makeConnectivity } from '../http/connectivity.ts'

export type Polled = Answer<typeof teamChat.actions.poll>
export type Message = Polled['messages'][number]

/** Added to the duration of a poll, ms: a slower response is lost. */
const GRACE_MS = 15_000

export interface Following {
  api: Api
  room: number
  /** Only later events are yielded (ISO 8601). */
  after: string
  signal: AbortSignal
  connectivity: ReturnType<typeof makeConnectivity>
}

/**
 * Events of a room from a point on, without gaps or end: one long poll at a time, waiting through outages, restarts and
 * maintenance. Throws on abort, and for permanent errors such as `forbidden` after leaving the room.
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
