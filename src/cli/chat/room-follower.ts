import type { Api } from '../../client/api.ts'
import type { Polled } from '../../client/chat/follow-room.ts'
import type { Io } from '../io.ts'

interface FollowOptions {
  room: number
  /** ISO 8601. */
  after: string
  signal: AbortSignal
  /** Whether what happens is told as events, which with `--json` are lines of standard output. */
  isStream: boolean
}

/** Follows a room, and says when the server is away and when it is back. */
export async function follow(
  { io, api }: { io: Io; api: Api },
  { room, after, signal, isStream }: FollowOptions,
): Promise<AsyncGenerator<Polled>> {
  const { followRoom } = await import('../../client/chat/follow-room.ts')
  const { makeConnectivity } = await import('../../client/http/connectivity.ts')
  const { sleep } = await import('../../base/sleep.ts')
  const { errorMessage } = await import('../error-message.ts')
  const connectivity = makeConnectivity({
    sleep,
    random: Math.random,
    signal,
    lost(error) {
      if (io.json && isStream) io.event('', { event: 'offline', message: errorMessage(error) })
      else io.info(`The server is away, which is waited out: ${errorMessage(error)}`)
    },
    back() {
      if (io.json && isStream) io.event('', { event: 'online' })
      else io.info('The server is back.')
    },
  })
  return followRoom({ api, room, after, signal, connectivity })
}
