import { argumentsOf, type LanguageModels, type ModelCall } from '../../base/language-model.ts'
import { makeAskModel } from './ask-model.ts'
import type { Bounds, Calls, Pending } from './calls.ts'
import type { AssistantModels } from './models.ts'
import { asData, DELEGATE } from './prompts.ts'
import { mouthOf, type Run, type Surroundings, type Thread } from './run.ts'
import { makeWork } from './work.ts'

interface Parts {
  languageModels: LanguageModels
  models: AssistantModels
  calls: Calls
  bounds: Bounds
}

/** Takes answers from their question to their end, or to the call that needs the user's word. */
export function makeRunner({ languageModels, models, calls, bounds }: Parts) {
  const askModel = makeAskModel({ languageModels, models })
  const work = makeWork({ askModel, calls, bounds })

  /** Asks the speaker, whom the user hears. */
  async function ask(run: Run, { choice, signal, emit }: Surroundings, mayCall: boolean) {
    const { model, messages, question } = run.speaker!
    const functions = mayCall || run.speaker!.handed ? [DELEGATE] : []
    const say = mouthOf(run, emit)
    const reply = await askModel({ choice, model, messages, question, signal, functions, mayCall, say })
    run.tokens += reply.tokens
    return reply
  }

  /** The speaker answers, or hands the task over: whether it did. */
  async function handsOver(run: Run, surroundings: Surroundings): Promise<boolean> {
    const speaker = run.speaker!
    const { tools } = await models.describe(surroundings.choice, speaker.model)
    // A speaker that calls nothing cannot choose: everything is handed over.
    if (tools === false) {
      run.worker.messages.push({ role: 'user', text: questionOf(speaker) })
      return true
    }
    const { text, calls: made } = await ask(run, surroundings, true)
    const [call] = made
    if (!call) return false
    speaker.messages.push({ role: 'assistant', text, calls: made })
    speaker.handed = made
    run.worker.messages.push({ role: 'user', text: taskOf(call) ?? questionOf(speaker) })
    return true
  }

  /** The speaker puts the worker's report into an answer. */
  async function conclude(run: Run, surroundings: Surroundings): Promise<void> {
    const { messages, handed } = run.speaker!
    const last = run.worker.messages.at(-1)
    const report = last?.role === 'assistant' && last.text !== '' ? last.text : 'There is no report.'
    if (handed)
      for (const [index, { id, name }] of handed.entries())
        messages.push({ role: 'result', id, name, text: index === 0 ? report : 'Error: one task at a time.' })
    else messages.push({ role: 'user', text: `${asData('report of your colleague', report)}\nAnswer me with it.` })
    await ask(run, surroundings, false)
  }

  /**
   * Goes on with a run until its end, or until a call needs the user's word: that is returned. `allow` is that word for
   * the call the run waits with. Throws `ModelTrouble`, and the reason of the signal.
   */
  return async function go(run: Run, surroundings: Surroundings, allow?: boolean): Promise<Pending | undefined> {
    if (run.speaker && allow === undefined && !(await handsOver(run, surroundings))) return undefined
    const pending = await work(run, surroundings, allow)
    if (!pending && run.speaker) await conclude(run, surroundings)
    return pending
  }
}

export type Runner = ReturnType<typeof makeRunner>

const questionOf = ({ messages, question }: Thread): string => messages[question]?.text ?? ''

function taskOf(call: ModelCall): string | undefined {
  const task = argumentsOf(call)?.['task']
  return typeof task === 'string' && task.trim() !== '' ? task : undefined
}
