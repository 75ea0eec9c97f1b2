import { createHash } from 'node:crypto'
import { Value } from 'typebox/value'
import { ARGUMENT_DEPTH, argumentsOf, type ModelCall } from '../../../base/language-model.ts'
import { isSound, printable } from '../../../base/text.ts'
import { DiskFull } from '../../../base/trouble.ts'
import type { AssistantAction } from '../../../contract/assistant.ts'
import { fault, isFault, type Fault } from '../../../contract/errors.ts'
import type { Database } from '../../../storage/engine/database.ts'
import type { Audit } from '../../instance/instance.ts'
import { cutTo } from '../text.ts'
import type { ToolEffect, Tool, ToolCall, ToolResult } from './tool.ts'

/** What models may not exceed. Times in ms. */
export interface Bounds {
  /** Rounds of one answer. */
  rounds: number
  /** Calls of one round. */
  calls: number
  /** Bytes of a result. */
  result: number
  /** One call. */
  callMs: number
  /** One answer with everything. */
  answerMs: number
}

export const BOUNDS: Bounds = { rounds: 5, calls: 8, result: 65_536, callMs: 20_000, answerMs: 120_000 }

/** What a call needs the user's word for. */
export interface Pending {
  tool: string
  summary: string
  arguments: Record<string, unknown>
}

export type Outcome =
  | { text: string; untrusted: boolean; action?: AssistantAction; status: 'done' | 'failed' | 'blocked' }
  | { pending: Pending }

/** How a call is meant. */
export interface CallContext extends ToolCall {
  tools: readonly Tool[]
  /** Whether text that nobody vouches for is in the conversation. */
  tainted: boolean
  /** Whether the user agreed to exactly this call. */
  allowed: boolean
}

interface Parts {
  database: Database
  audit: Audit
  bounds: Bounds
}

type Arguments = Record<string, unknown>

const SUMMARY_LENGTH = 200

/** A call in one line, for people. */
function summaryOf(name: string, args: Arguments): string {
  const values = Object.values(args).map((value) => (typeof value === 'string' ? value : JSON.stringify(value)))
  const line = printable([name.replaceAll('_', ' '), ...values].join(' ').replace(/\s+/g, ' '))
  return line.length > SUMMARY_LENGTH ? `${line.slice(0, SUMMARY_LENGTH - 1).toWellFormed()}…` : line
}

const failed = (text: string): Outcome => ({ text, untrusted: false, status: 'failed' })

/** What needs the user's word once text that nobody vouches for is in the conversation. */
const ASKS: ReadonlySet<ToolEffect> = new Set(['alters', 'sends'])

/** What a call would do, or the fault it would end with. */
function effectOf({ effect }: Tool, args: Arguments): ToolEffect | Fault {
  if (typeof effect !== 'function') return effect
  try {
    return effect(args)
  } catch (error) {
    if (isFault(error)) return error
    throw error
  }
}

/** Carries out what models ask for: checks it, bounds it, and writes down that it happened. */
export function makeCalls({ database, audit, bounds }: Parts) {
  const note = ({ account, room, conversation }: CallContext, name: string, args: unknown, result: string) => {
    const hash = createHash('sha256')
      .update(JSON.stringify(args ?? null))
      .digest('hex')
    const where = { ...(room !== undefined && { room }), ...(conversation !== undefined && { conversation }) }
    const detail = { tool: name.slice(0, 64), ...where, arguments_sha256: hash, result }
    return database.write((tx) => audit.record(tx, { kind: 'assistant.tool', by: account.id, detail }))
  }

  /** Runs a tool; one that ignores its signal is left behind. */
  async function run(
    tool: Tool,
    args: Arguments,
    { signal, ...call }: ToolCall,
  ): Promise<ToolResult & { failed?: true }> {
    const late = AbortSignal.timeout(bounds.callMs)
    const either = AbortSignal.any([signal, late])
    const end = new Promise<never>((_, reject) => {
      either.addEventListener('abort', () => reject(either.reason as Error), { once: true })
    })
    try {
      return await Promise.race([tool.run({ ...call, signal: either }, args), end])
    } catch (error) {
      signal.throwIfAborted()
      if (late.aborted) return { text: `Error: it took longer than ${bounds.callMs / 1_000} seconds.`, failed: true }
      const known = error instanceof DiskFull ? fault('disk_full') : error
      if (isFault(known)) return { text: `Error: ${known.message}`, failed: true }
      throw error
    }
  }

  return {
    /** A call in one line, for people. */
    summary: (call: ModelCall): string => summaryOf(call.name, argumentsOf(call) ?? {}),

    /** Carries out one call. What is wrong with it is told to the model; only bugs are thrown. */
    async carryOut(call: ModelCall, context: CallContext): Promise<Outcome> {
      const { tools, tainted, allowed, account, room, conversation, changeSet, signal } = context
      signal.throwIfAborted()
      const tool = tools.find(({ name }) => name === call.name)
      if (!tool) {
        await note(context, call.name, call.arguments, 'unknown')
        const known = tools.map(({ name }) => name).join(', ') || 'none'
        return failed(
          `Error: ${call.name === '' ? 'the call could not be read' : 'there is no such tool'}. Tools: ${known}.`,
        )
      }
      const args = readArguments(tool, call)
      if (typeof args === 'string') {
        await note(context, tool.name, call.arguments, 'bad arguments')
        return failed(`Error: ${args}`)
      }
      const effect = effectOf(tool, args)
      if (isFault(effect)) {
        await note(context, tool.name, args, 'failed')
        return failed(`Error: ${effect.message}`)
      }
      if (room !== undefined && effect !== 'reads') {
        await note(context, tool.name, args, 'blocked: in a room')
        return { text: 'Error: this is not possible in a chat room.', untrusted: false, status: 'blocked' }
      }
      if (!allowed && tainted && ASKS.has(effect)) {
        await note(context, tool.name, args, 'blocked: needs a confirmation')
        return { pending: { tool: tool.name, summary: summaryOf(tool.name, args), arguments: args } }
      }
      const where = { account, conversation, changeSet, signal, ...(room !== undefined && { room }) }
      const { text, action, failed: isFailure = false } = await run(tool, args, where)
      await note(context, tool.name, args, isFailure ? 'failed' : 'done')
      const kept = cutTo(text, bounds.result, '\n[cut: the result is longer]')
      return { text: kept, untrusted: tool.untrusted, status: isFailure ? 'failed' : 'done', ...(action && { action }) }
    },

    /** Writes down that the user declined a call. */
    declined: (call: ModelCall, context: CallContext): Promise<void> =>
      note(context, call.name, argumentsOf(call), 'blocked: declined by the user'),
  }
}

export type Calls = ReturnType<typeof makeCalls>

/** The declared arguments out of what a model wrote, or what is wrong with them. */
function readArguments({ parameters }: Tool, call: ModelCall): Arguments | string {
  const value = argumentsOf(call)
  if (!value) return `the arguments must be one whole JSON object, nested at most ${ARGUMENT_DEPTH} levels deep.`
  const args = Object.fromEntries(
    Object.keys(parameters.properties).flatMap((name) => (Object.hasOwn(value, name) ? [[name, value[name]]] : [])),
  )
  const [flaw] = Value.Errors(parameters, args)
  if (flaw) return `the arguments do not fit: ${flaw.instancePath.slice(1) || 'they'} ${flaw.message}.`
  const unsound = Object.entries(args).find(([, one]) => !isSoundAll(one))
  return unsound ? `the argument ${unsound[0]} holds a character that cannot be stored.` : args
}

/** Whether every text in a value can be stored. */
function isSoundAll(value: unknown): boolean {
  if (typeof value === 'string') return isSound(value)
  if (typeof value !== 'object' || value === null) return true
  return Object.entries(value).every(([name, one]) => isSound(name) && isSoundAll(one))
}
