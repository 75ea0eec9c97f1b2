import { isFault } from '../../contract/errors.ts'
import type { Api } from '../api.ts'
import { isTemporary, makeConnectivity } from '../http/connectivity.ts'
import type { ConnectionError } from './chat-state.ts'
import { type Sleep, interruptibleSleep } from '../../base/sleep.ts'

/** Interval of checking for a new sign-in, in milliseconds. */
const RENEW_MS = 2_000

export interface ConnectionParts {
  api: Api
  /** The connection after a new sign-in; undefined until then. */
  renew: () => Promise<Api | undefined>
  sleep: Sleep
  random: () => number
  signal: AbortSignal
  /** Called when the connection is lost, and with undefined when it is back. */
  onConnectionError: (error: ConnectionError | undefined) => void
}

/** A connection that survives outages, maintenance and the end of a sign-in. */
export function makeConnection({ api: first, renew, sleep, random, signal, onConnectionError }: ConnectionParts) {
  let now = first
  let renewing: Promise<void> | undefined
  const connectivity = makeConnectivity({
    sleep,
    random,
    signal,
    lost: (error) => onConnectionError({ kind: 'away', error }),
    back: () => onConnectionError(undefined),
  })

  async function awaitSignIn(error: Error): Promise<void> {
    onConnectionError({ kind: 'signed-out', error })
    for (;;) {
      await interruptibleSleep(sleep, RENEW_MS, signal, () => undefined)
      const next = await renew()
      if (!next) continue
      now.close()
      now = next
      onConnectionError(undefined)
      return
    }
  }

  async function recover(error: unknown): Promise<void> {
    signal.throwIfAborted()
    if (isFault(error, 'unauthorized')) {
      renewing ??= awaitSignIn(error).finally(() => (renewing = undefined))
      await renewing
    } else if (isTemporary(error)) await connectivity.backOff(error)
    else throw error
  }

  return {
    connectivity,
    /** Stays the same across reconnections. */
    api: {
      url: first.url,
      call: (...given: Parameters<Api['call']>) => now.call(...given),
      send: (...given: Parameters<Api['send']>) => now.send(...given),
      receive: (...given: Parameters<Api['receive']>) => now.receive(...given),
      close: () => now.close(),
    } as Api,
    /** After an error: waits if that can help, otherwise throws it. */
    recover,
    /** Repeats a request until it succeeds; throws permanent errors. */
    async persist<T>(ask: () => Promise<T>): Promise<T> {
      for (;;) {
        const gotThrough = connectivity.attempt()
        try {
          const answer = await ask()
          gotThrough()
          return answer
        } catch (error) {
          await recover(error)
        }
      }
    },
  }
}

export type Connection = ReturnType<typeof makeConnection>
