import { argumentsOf, type LanguageModels, type ModelCall, type ModelReply } from '../../base/language-model.ts'
import { makeModelClient, type AskModel } from './models/model-client.ts'
import type { AssistantModels } from './models/models.ts'
import { asData, DELEGATE } from './prompts.ts'
import { textEmitter, type Run, type RunContext, type Thread } from './run.ts'
import type { Bounds, PendingConfirmation, ToolCalls } from './tools/tool-calls.ts'
import { functionOf } from './tools/tool.ts'

// The agent loop, from a question to its answer. The worker is the model with the tools: it is asked, its calls are executed, and it
// is asked again with their results until a reply has no calls. Usually the worker answers the user itself. If an agent model is
// configured, that model is the worker, and the chat model is the speaker: it answers, or delegates the task to the worker and
// answers with the worker's report.

interface Deps {
  languageModels: LanguageModels
  models: AssistantModels
  toolCalls: ToolCalls
  bounds: Bounds
}

interface Loop extends Omit<Deps, 'languageModels'> {
  askModel: AskModel
}

/**
 * Continues a run to its end, or to a call that needs the user's confirmation, which is returned. `allow` is the user's decision
 * about the call that the run stopped at. Throws `ModelError`, and the reason of the signal.
 */
export type ContinueRun = (run: Run, context: RunContext, allow?: boolean) => Promise<PendingConfirmation | undefined>

export function makeLoop({ languageModels, ...deps }: Deps): ContinueRun {
  const loop = { ...deps, askModel: makeModelClient({ languageModels, models: deps.models }) }
  return async (run, context, allow) => {
    const isNew = allow === undefined
    if (run.speaker && isNew && !(await delegate(loop, run, context))) return undefined
    const pending = await runWorker(loop, run, context, allow)
    if (run.speaker && !pending) await answerWithReport(loop, run, context)
    return pending
  }
}

/** Executes the worker's calls and asks it again until it has none. The last round permits no calls, so the loop ends. */
async function runWorker(
  loop: Loop,
  run: Run,
  context: RunContext,
  allow?: boolean,
): Promise<PendingConfirmation | undefined> {
  let decision = allow
  do {
    while (run.due.length > 0) {
      const pending = await executeNext(loop, run, context, decision)
      if (pending) return pending
      decision = undefined
      run.due.shift()
    }
    await askWorker(loop, run, context)
  } while (run.due.length > 0)
  return undefined
}

/** Asks the worker; the calls of its reply are due afterwards. */
async function askWorker({ askModel, bounds }: Loop, run: Run, context: RunContext): Promise<void> {
  const { choice, signal, emit, tools } = context
  const { model, messages, question } = run.worker
  const mayCall = ++run.rounds < bounds.rounds
  // With a speaker, the user does not see the worker's text.
  const onText = run.speaker ? () => undefined : textEmitter(run, emit)
  const functions = tools.map(functionOf)
  const reply = await askModel({ choice, model, messages, question, functions, mayCall, signal, onText })
  run.tokens += reply.tokens
  messages.push({ role: 'assistant', text: reply.text, calls: reply.calls })
  run.due = reply.calls.map((call, index) => (index < bounds.calls ? call : { ...call, isTooMany: true }))
}

/** Executes the first call that is due and gives the worker its result, unless it needs the user's confirmation. */
async function executeNext(
  { toolCalls, bounds }: Loop,
  run: Run,
  { emit, scope, choice: _, ...context }: RunContext,
  decision: boolean | undefined,
): Promise<PendingConfirmation | undefined> {
  const call = run.due[0]!
  const { name, id } = call
  const callContext = { ...context, ...(await scope()), tainted: run.tainted, allowed: decision === true }
  const addResult = (text: string): undefined => void run.worker.messages.push({ role: 'result', id, name, text })
  if (call.isTooMany) return addResult(`Error: at most ${bounds.calls} calls at a time.`)
  const summary = toolCalls.summary(call)
  if (decision === false) {
    await toolCalls.declined(call, callContext)
    await emit('tool', { name, summary, status: 'blocked' })
    return addResult('The user declined this. Do not try it again.')
  }
  await emit('tool', { name, summary, status: 'running' })
  const outcome = await toolCalls.execute(call, callContext)
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
  return addResult(untrusted ? asData(name, text) : text)
}

/** Asks the speaker, who answers or delegates the task to the worker. Returns whether it delegated. */
async function delegate(loop: Loop, run: Run, context: RunContext): Promise<boolean> {
  const speaker = run.speaker!
  const { tools } = await loop.models.describe(context.choice, speaker.model)
  // A model without function calling cannot choose: every task is delegated.
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

async function answerWithReport(loop: Loop, run: Run, context: RunContext): Promise<void> {
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
  const onText = textEmitter(run, emit)
  const reply = await askModel({ choice, model, messages, question, signal, functions, mayCall, onText })
  run.tokens += reply.tokens
  return reply
}

const questionOf = ({ messages, question }: Thread): string => messages[question]?.text ?? ''

function taskOf(call: ModelCall): string | undefined {
  const task = argumentsOf(call)?.['task']
  return typeof task === 'string' && task.trim() !== '' ? task : undefined
}
