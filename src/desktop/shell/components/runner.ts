import { makeFlood } from '../flood.ts'
import type { Failure, Surroundings } from '../../wire/protocol.ts'

export interface Running {
  /** Asks a hook. Resolves with what its JSON says; never when the component was stopped. */
  ask(hook: string, value: object): Promise<unknown>
  tell(surroundings: Surroundings): void
  stop(): void
}

/** Milliseconds that a component may take to begin, to answer a hook, and to show that it still lives. */
const TIMES = { start: 6_000, hook: 200, pulse: 4_000 } as const

/** Characters of an answer. */
const LONGEST = 100_000

/** Questions that wait for their answers by number. */
function makeQuestions(say: (message: object) => void) {
  const waiting = new Map<number, (json: unknown) => void>()
  let lastId = 0
  return {
    /** Asks; `late` is called when nothing came within the time. */
    put(message: object, ms: number, late: () => void): Promise<unknown> {
      const id = ++lastId
      return new Promise((resolve) => {
        const timer = setTimeout(() => waiting.delete(id) && late(), ms)
        waiting.set(id, (json) => {
          clearTimeout(timer)
          resolve(json)
        })
        say({ ...message, id })
      })
    },
    settle(id: number, json: unknown): void {
      const settle = waiting.get(id)
      waiting.delete(id)
      settle?.(json)
    },
    forget: () => waiting.clear(),
  }
}

interface Code {
  component_type: string
  code: string
}

/** Puts a component to work in a frame that is empty yet; whatever is said from there is looked at as a stranger's. */
export function run(
  frame: HTMLIFrameElement,
  { component_type: kind, code }: Code,
  surroundings: Surroundings,
  { onRunning, onFailure }: { onRunning: (hooks: string[]) => void; onFailure: (failure: Failure) => void },
): Running {
  const maySpeak = makeFlood(100, 1_000)
  let isOver = false
  let loads = 0
  let pulse: ReturnType<typeof setInterval> | undefined
  const begin = setTimeout(() => fail({ kind: 'silent' }), TIMES.start)
  const say = (message: object): void => frame.contentWindow?.postMessage(message, '*')
  const questions = makeQuestions(say)

  function stop(): void {
    isOver = true
    clearTimeout(begin)
    clearInterval(pulse)
    questions.forget()
    removeEventListener('message', hear)
    frame.removeEventListener('load', loaded)
  }

  function fail(failure: Failure): void {
    if (isOver) return
    stop()
    onFailure(failure)
  }

  function loaded(): void {
    if (++loads === 1) say({ type: 'run', kind, code, ...surroundings })
    else fail({ kind: 'left' })
  }

  function hear({ source, origin, data }: MessageEvent<unknown>): void {
    if (source === null || source !== frame.contentWindow || origin !== 'null') return
    if (!maySpeak()) return fail({ kind: 'flooded' })
    if (typeof data !== 'object' || data === null) return
    const { type, id, json, message, hooks } = data as Record<string, unknown>
    if (type === 'failed') return fail({ kind: 'threw', message: String(message).slice(0, 300) })
    if (type === 'running') {
      clearTimeout(begin)
      pulse ??= setInterval(() => {
        if (!document.hidden) void questions.put({ type: 'ping' }, TIMES.pulse - 500, () => fail({ kind: 'silent' }))
      }, TIMES.pulse)
      onRunning(['dock', 'panel'].filter((hook) => Array.isArray(hooks) && hooks.includes(hook)))
    }
    if (type === 'answer' || type === 'pong') questions.settle(Number(id), json)
  }

  addEventListener('message', hear)
  frame.addEventListener('load', loaded)

  return {
    ask(hook, value) {
      return new Promise((resolve) => {
        const once = (late: () => void) =>
          questions.put({ type: 'call', hook, value }, TIMES.hook, late).then((json) => {
            try {
              if (typeof json !== 'string' || json.length > LONGEST) throw new TypeError('no answer')
              resolve(JSON.parse(json))
            } catch {
              // Not JSON, or far too much of it: not what was agreed.
              fail({ kind: 'wrong' })
            }
          })
        // A machine that is busy for a moment is not the component's fault; twice in a row is.
        void once(() => void once(() => fail({ kind: 'silent' })))
      })
    },
    tell: (now) => say({ type: 'surroundings', ...now }),
    stop,
  }
}
