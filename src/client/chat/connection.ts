import { isFault } from '../../contract/errors.ts'
import type { Api } from '../api.ts'
import { isTemporary, makeConnectivity } from '../http/connectivity.ts'
import type { ConnectionError } from './state.ts'
import { type Sleep, interruptibleSleep } from '../../base/sleep.ts'

/** How often it is looked whether somebody has signed in again, milliseconds. */
const RENEW_MS = 2_000

export interface ConnectionParts {
  api: Api
  /** The way to the server after signing in anew; undefined while nobody has. */
  renew: () => Promise<Api | undefined>
  sleep: Sleep
  random: () => number
  signal: AbortSignal
  /** Called when the connection is lost, and with undefined when it is back. */
  onConnectionError: (error: ConnectionError | undefined) => void
}

/** A way to the server that outlasts its absence, maintenance and the end of a sign-in. */
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

  async function mend(error: unknown): Promise<void> {
    signal.throwIfAborted()
    if (isFault(error, 'unauthorized')) {
      renewing ??= awaitSignIn(error).finally(() => (renewing = undefined))
      await renewing
    } else if (isTemporary(error)) await connectivity.backOff(error)
    else throw error
  }

  return {
    connectivity,
    /** The same through all changes. */
    api: {
      url: first.url,
      call: (...given: Parameters<Api['call']>) => now.call(...given),
      send: (...given: Parameters<Api['send']>) => now.send(...given),
      receive: (...given: Parameters<Api['receive']>) => now.receive(...given),
      close: () => now.close(),
    } as Api,
    /** After an error: waits for what waiting mends, and throws what it does not. */
    mend,
    /** Asks until it is answered; throws what waiting does not mend. */
    async persist<T>(ask: () => Promise<T>): Promise<T> {
      for (;;) {
        const gotThrough = connectivity.attempt()
        try {
          const answer = await ask()
          gotThrough()
          return answer
        } catch (error) {
          await mend(error)
        }
      }
    },
  }
}

export type Connection = ReturnType<typeof makeConnection>
