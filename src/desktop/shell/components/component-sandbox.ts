import { makeMessageLimiter } from '../message-limiter.ts'
import type { Failure, DesktopState } from '../../wire/protocol.ts'

export interface ComponentSandbox {
  /** Calls a hook. Resolves with its parsed result; never settles if the component was stopped. */
  callHook(hook: string, value: object): Promise<unknown>
  setDesktopState(state: DesktopState): void
  stop(): void
}

/** Time limits for starting, for a hook, and for an answer to a ping, ms. */
const TIMEOUTS = { start: 6_000, hook: 200, pulse: 4_000 } as const

/** Longest result, characters. */
const MAX_RESULT_LENGTH = 100_000

function makeRequests(post: (message: object) => void) {
  const pending = new Map<number, (json: unknown) => void>()
  let lastId = 0
  return {
    /** Sends a request; `onTimeout` is called if no response arrives in time. */
    send(message: object, ms: number, onTimeout: () => void): Promise<unknown> {
      const id = ++lastId
      return new Promise((resolve) => {
        const timer = setTimeout(() => pending.delete(id) && onTimeout(), ms)
        pending.set(id, (json) => {
          clearTimeout(timer)
          resolve(json)
        })
        post({ ...message, id })
      })
    },
    resolve(id: number, json: unknown): void {
      const resolve = pending.get(id)
      pending.delete(id)
      resolve?.(json)
    },
    clear: () => pending.clear(),
  }
}

interface Code {
  component_type: string
  code: string
}

/** Runs a component in an empty frame. Its messages are untrusted. */
export function runComponent(
  frame: HTMLIFrameElement,
  { component_type: kind, code }: Code,
  surroundings: DesktopState,
  { onRunning, onFailure }: { onRunning: (hooks: string[]) => void; onFailure: (failure: Failure) => void },
): ComponentSandbox {
  const allowMessage = makeMessageLimiter(100, 1_000)
  let isStopped = false
  let loads = 0
  let pulse: ReturnType<typeof setInterval> | undefined
  const startTimer = setTimeout(() => fail({ kind: 'timeout' }), TIMEOUTS.start)
  const post = (message: object): void => frame.contentWindow?.postMessage(message, '*')
  const requests = makeRequests(post)

  function stop(): void {
    isStopped = true
    clearTimeout(startTimer)
    clearInterval(pulse)
    requests.clear()
    removeEventListener('message', receive)
    frame.removeEventListener('load', onLoad)
  }

  function fail(failure: Failure): void {
    if (isStopped) return
    stop()
    onFailure(failure)
  }

  function onLoad(): void {
    if (++loads === 1) post({ type: 'run', kind, code, ...surroundings })
    else fail({ kind: 'navigated' })
  }

  function receive({ source, origin, data }: MessageEvent<unknown>): void {
    if (source === null || source !== frame.contentWindow || origin !== 'null') return
    if (!allowMessage()) return fail({ kind: 'too_many_messages' })
    if (typeof data !== 'object' || data === null) return
    const { type, id, json, message, hooks } = data as Record<string, unknown>
    if (type === 'failed') return fail({ kind: 'error', message: String(message).slice(0, 300) })
    if (type === 'running') {
      clearTimeout(startTimer)
      pulse ??= setInterval(() => {
        if (!document.hidden)
          void requests.send({ type: 'ping' }, TIMEOUTS.pulse - 500, () => fail({ kind: 'timeout' }))
      }, TIMEOUTS.pulse)
      onRunning(['dock', 'panel'].filter((hook) => Array.isArray(hooks) && hooks.includes(hook)))
    }
    if (type === 'answer' || type === 'pong') requests.resolve(Number(id), json)
  }

  addEventListener('message', receive)
  frame.addEventListener('load', onLoad)

  return {
    callHook(hook, value) {
      return new Promise((resolve) => {
        const attempt = (onTimeout: () => void) =>
          requests.send({ type: 'call', hook, value }, TIMEOUTS.hook, onTimeout).then((json) => {
            try {
              if (typeof json !== 'string' || json.length > MAX_RESULT_LENGTH) throw new TypeError('no answer')
              resolve(JSON.parse(json))
            } catch {
              // Invalid JSON or too long.
              fail({ kind: 'invalid_result' })
            }
          })
        // A busy computer may miss one ping; a component that misses two is stopped.
        void attempt(() => void attempt(() => fail({ kind: 'timeout' })))
      })
    },
    setDesktopState: (now) => post({ type: 'surroundings', ...now }),
    stop,
  }
}
