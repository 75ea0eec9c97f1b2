import type { AskModel } from './ask-model.ts'
import type { Bounds, Calls, Pending } from './calls.ts'
import { asData } from './prompts.ts'
import { functionOf } from './tool.ts'
import { mouthOf, type Run, type Surroundings } from './run.ts'

interface Parts {
  askModel: AskModel
  calls: Calls
  bounds: Bounds
}

/** The rounds of a model with tools: what it calls is carried out and told to it, until it calls nothing more. */
export function makeWork({ askModel, calls, bounds }: Parts) {
  /** Carries one call out, or does not as the user decided, and tells the model what came of it. */
  async function carryOut(
    run: Run,
    call: Run['due'][number],
    { emit, place, choice: _, ...surroundings }: Surroundings,
    allowed: boolean | undefined,
  ): Promise<Pending | undefined> {
    const circumstances = { ...surroundings, ...(await place()), tainted: run.tainted, allowed: allowed === true }
    const { name, id } = call
    const tell = (text: string): undefined => void run.worker.messages.push({ role: 'result', id, name, text })
    if (call.isTooMany) return tell(`Error: at most ${bounds.calls} calls at a time.`)
    const summary = calls.summary(call)
    if (allowed === false) {
      await calls.declined(call, circumstances)
      await emit('tool', { name, summary, status: 'blocked' })
      tell('The user declined this. Do not try it again.')
      return undefined
    }
    await emit('tool', { name, summary, status: 'running' })
    const outcome = await calls.carryOut(call, circumstances)
    if ('pending' in outcome) {
      await emit('tool', { name, summary, status: 'blocked' })
      return outcome.pending
    }
    const { text, untrusted, action, status } = outcome
    run.calls++
    if (untrusted) run.tainted = true
    await emit('tool', { name, summary, status })
    if (action) {
      run.actions.push(action)
      await emit('action', action)
    }
    tell(untrusted ? asData(name, text) : text)
    return undefined
  }

  /** One round: asks the model and takes down what it calls. */
  async function round(run: Run, { choice, signal, emit, tools }: Surroundings): Promise<void> {
    const { model, messages, question } = run.worker
    const mayCall = ++run.rounds < bounds.rounds
    // Somebody else speaks for a model that only works.
    const say = run.speaker ? () => undefined : mouthOf(run, emit)
    const functions = tools.map(functionOf)
    const reply = await askModel({ choice, model, messages, question, functions, mayCall, signal, say })
    run.tokens += reply.tokens
    messages.push({ role: 'assistant', text: reply.text, calls: reply.calls })
    run.due = reply.calls.map((call, index) => (index < bounds.calls ? call : { ...call, isTooMany: true }))
  }

  /**
   * Works on until the model calls nothing more, or until a call needs the user's word: that is returned. `allow` is that
   * word for the call that is due. In the last round nothing can be called, so it ends.
   */
  return async function work(run: Run, surroundings: Surroundings, allow?: boolean): Promise<Pending | undefined> {
    let allowed = allow
    do {
      while (run.due.length > 0) {
        const pending = await carryOut(run, run.due[0]!, surroundings, allowed)
        if (pending) return pending
        allowed = undefined
        run.due.shift()
      }
      await round(run, surroundings)
    } while (run.due.length > 0)
    return undefined
  }
}
