import { argumentsOf, type LanguageModels, type ModelCall, type ModelReply } from '../../base/language-model.ts'
import { makeAskModel, type AskModel } from './models/ask-model.ts'
import type { Bounds, Calls, Pending } from './tools/calls.ts'
import type { AssistantModels } from './models/models.ts'
import { asData, DELEGATE } from './prompts.ts'
import { textEmitter, type Run, type RunContext, type Thread } from './run.ts'
import { functionOf } from './tools/tool.ts'

// The agent loop, from a question to its answer. The worker is the model with the tools. Usually it answers the user itself; where an
// agent model is configured, the worker is that model, and the chat model is the speaker: it answers, or delegates the task to the
// worker and answers with its report.

interface Parts {
  languageModels: LanguageModels
  models: AssistantModels
  calls: Calls
  bounds: Bounds
}

interface Loop extends Omit<Parts, 'languageModels'> {
  askModel: AskModel
}

/**
 * Continues a run to its end, or to a call that needs the user's confirmation, which is returned. `allow` is the user's decision
 * about the call that the run stopped at. Throws `ModelTrouble`, and the reason of the signal.
 */
export type ContinueRun = (run: Run, context: RunContext, allow?: boolean) => Promise<Pending | undefined>

export function makeLoop({ languageModels, ...parts }: Parts): ContinueRun {
  const loop = { ...parts, askModel: makeAskModel({ languageModels, models: parts.models }) }
  return async (run, context, allow) => {
    const isNew = allow === undefined
    if (run.speaker && isNew && !(await delegates(loop, run, context))) return undefined
    const pending = await work(loop, run, context, allow)
    if (run.speaker && !pending) await conclude(loop, run, context)
    return pending
  }
}

/** Lets the worker call tools until it calls none. It cannot call any in the last round, so the loop ends. */
async function work(loop: Loop, run: Run, context: RunContext, allow?: boolean): Promise<Pending | undefined> {
  let allowed = allow
  do {
    while (run.due.length > 0) {
      const pending = await carryOut(loop, run, context, allowed)
      if (pending) return pending
      allowed = undefined
      run.due.shift()
    }
    await askWorker(loop, run, context)
  } while (run.due.length > 0)
  return undefined
}

/** Asks the worker; its calls are due afterwards. */
async function askWorker({ askModel, bounds }: Loop, run: Run, context: RunContext): Promise<void> {
  const { choice, signal, emit, tools } = context
  const { model, messages, question } = run.worker
  const mayCall = ++run.rounds < bounds.rounds
  // With a speaker, the user does not read what the worker says.
  const say = run.speaker ? () => undefined : textEmitter(run, emit)
  const functions = tools.map(functionOf)
  const reply = await askModel({ choice, model, messages, question, functions, mayCall, signal, say })
  run.tokens += reply.tokens
  messages.push({ role: 'assistant', text: reply.text, calls: reply.calls })
  run.due = reply.calls.map((call, index) => (index < bounds.calls ? call : { ...call, isTooMany: true }))
}

/** Carries out the first call that is due and gives the worker its result, unless it needs the user's confirmation. */
async function carryOut(
  { calls, bounds }: Loop,
  run: Run,
  { emit, place, choice: _, ...context }: RunContext,
  allowed: boolean | undefined,
): Promise<Pending | undefined> {
  const call = run.due[0]!
  const { name, id } = call
  const callContext = { ...context, ...(await place()), tainted: run.tainted, allowed: allowed === true }
  const giveResult = (text: string): undefined => void run.worker.messages.push({ role: 'result', id, name, text })
  if (call.isTooMany) return giveResult(`Error: at most ${bounds.calls} calls at a time.`)
  const summary = calls.summary(call)
  if (allowed === false) {
    await calls.declined(call, callContext)
    await emit('tool', { name, summary, status: 'blocked' })
    return giveResult('The user declined this. Do not try it again.')
  }
  await emit('tool', { name, summary, status: 'running' })
  const outcome = await calls.carryOut(call, callContext)
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
  return giveResult(untrusted ? asData(name, text) : text)
}

/** Asks the speaker, who answers or delegates the task to the worker. Returns whether it delegated. */
async function delegates(loop: Loop, run: Run, context: RunContext): Promise<boolean> {
  const speaker = run.speaker!
  const { tools } = await loop.models.describe(context.choice, speaker.model)
  // A model without calls cannot choose: every task is delegated.
  if (tools === false) {
    run.worker.messages.push({ role: 'user', text: questionOf(speaker) })
    return true
  }
  const reply = await askSpeaker(loop, run, context, true)
  const [call] = reply.calls
  if (!call) return false
  speaker.messages.push({ role: 'assistant', text: reply.text, calls: reply.calls })
  speaker.handed = reply.calls
  run.worker.messages.push({ role: 'user', text: taskOf(call) ?? questionOf(speaker) })
  return true
}

/** Lets the speaker answer with the report of the worker. */
async function conclude(loop: Loop, run: Run, context: RunContext): Promise<void> {
  const { messages, handed } = run.speaker!
  const last = run.worker.messages.at(-1)
  const report = last?.role === 'assistant' && last.text !== '' ? last.text : 'There is no report.'
  if (handed)
    for (const [index, { id, name }] of handed.entries())
      messages.push({ role: 'result', id, name, text: index === 0 ? report : 'Error: one task at a time.' })
  else messages.push({ role: 'user', text: `${asData('report of your colleague', report)}\nAnswer me with it.` })
  await askSpeaker(loop, run, context, false)
}

async function askSpeaker(
  { askModel }: Loop,
  run: Run,
  { choice, signal, emit }: RunContext,
  mayCall: boolean,
): Promise<ModelReply> {
  const { model, messages, question, handed } = run.speaker!
  const functions = mayCall || handed ? [DELEGATE] : []
  const say = textEmitter(run, emit)
  const reply = await askModel({ choice, model, messages, question, signal, functions, mayCall, say })
  run.tokens += reply.tokens
  return reply
}

const questionOf = ({ messages, question }: Thread): string => messages[question]?.text ?? ''

function taskOf(call: ModelCall): string | undefined {
  const task = argumentsOf(call)?.['task']
  return typeof task === 'string' && task.trim() !== '' ? task : undefined
}
