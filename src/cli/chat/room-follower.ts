import type { Api } from '../../client/api.ts'
import type { Polled } from '../../client/chat/room-feed.ts'
import type { Io } from '../io.ts'

interface FollowOptions {
  room: number
  /** ISO 8601. */
  after: string
  signal: AbortSignal
  /** Whether to print events, one per line with `--json`. */
  isStream: boolean
}

/** Follows a room and reports when the connection is lost and restored. */
export async function follow(
  { io, api }: { io: Io; api: Api },
  { room, after, signal, isStream }: FollowOptions,
): Promise<AsyncGenerator<Polled>> {
  const { followRoom } = await import('../../client/chat/room-feed.ts')
  const { makeConnectivity } = await import('../../client/http/connectivity.ts')
  const { sleep } = await import('../../base/sleep.ts')
  const { errorMessage } = await import('../error-message.ts')
  const connectivity = makeConnectivity({
    sleep,
    random: Math.random,
    signal,
    lost(error) {
      if (io.json && isStream) io.event('', { event: 'offline', message: errorMessage(error) })
      else io.info(`The server is not reachable; waiting for it: ${errorMessage(error)}`)
    },
    back() {
      if (io.json && isStream) io.event('', { event: 'online' })
      else io.info('The server is reachable again.')
    },
  })
  return followRoom({ api, room, after, signal, connectivity })
}
