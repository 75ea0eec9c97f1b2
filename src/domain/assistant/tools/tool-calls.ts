import { createHash } from 'node:crypto'
import { Value } from 'typebox/value'
import { ARGUMENT_DEPTH, argumentsOf, type ModelCall } from '../../../base/language-model.ts'
import { isSound, printable } from '../../../base/text.ts'
import { DiskFull } from '../../../base/errors.ts'
import type { AssistantAction } from '../../../contract/assistant.ts'
import { fault, isFault, type Fault } from '../../../contract/errors.ts'
import type { Database } from '../../../storage/engine/database.ts'
import type { Audit } from '../../instance/instance.ts'
import { cutTo } from '../model-text.ts'
import type { ToolEffect, Tool, ToolCall, ToolResult } from './tool.ts'

/** Limits of an answer. Times in ms. */
export interface Bounds {
  /** Rounds per answer. */
  rounds: number
  /** Calls per round. */
  calls: number
  /** Bytes per result. */
  result: number
  /** Time limit of a call. */
  callMs: number
  /** Time limit of an answer. */
  answerMs: number
}

export const BOUNDS: Bounds = { rounds: 5, calls: 8, result: 65_536, callMs: 20_000, answerMs: 120_000 }

/** A call that needs the user's confirmation. */
export interface PendingConfirmation {
  tool: string
  summary: string
  arguments: Record<string, unknown>
}

export type Outcome =
  | { text: string; untrusted: boolean; action?: AssistantAction; status: 'done' | 'failed' | 'blocked' }
  | { pending: PendingConfirmation }

export interface CallContext extends ToolCall {
  tools: readonly Tool[]
  /** Whether the conversation contains untrusted text. */
  tainted: boolean
  /** Whether the user confirmed exactly this call. */
  allowed: boolean
}

interface Deps {
  database: Database
  audit: Audit
  bounds: Bounds
}

type Arguments = Record<string, unknown>

const SUMMARY_LENGTH = 200

function summaryOf(name: string, args: Arguments): string {
  const values = Object.values(args).map((value) => (typeof value === 'string' ? value : JSON.stringify(value)))
  const line = printable([name.replaceAll('_', ' '), ...values].join(' ').replace(/\s+/g, ' '))
  return line.length > SUMMARY_LENGTH ? `${line.slice(0, SUMMARY_LENGTH - 1).toWellFormed()}…` : line
}

const failed = (text: string): Outcome => ({ text, untrusted: false, status: 'failed' })

/** Effects that need confirmation once the conversation contains untrusted text. */
const NEEDS_CONFIRMATION: ReadonlySet<ToolEffect> = new Set(['alters', 'sends'])

function effectOf({ effect }: Tool, args: Arguments): ToolEffect | Fault {
  if (typeof effect !== 'function') return effect
  try {
    return effect(args)
  } catch (error) {
    if (isFault(error)) return error
    throw error
  }
}

/** Executes the calls of models: validates and bounds each, and records it in the audit log. */
export function makeToolCalls({ database, audit, bounds }: Deps) {
  const record = ({ account, room, conversation }: CallContext, name: string, args: unknown, result: string) => {
    const hash = createHash('sha256')
      .update(JSON.stringify(args ?? null))
      .digest('hex')
    const toolCall = { ...(room !== undefined && { room }), ...(conversation !== undefined && { conversation }) }
    const detail = { tool: name.slice(0, 64), ...toolCall, arguments_sha256: hash, result }
    return database.write({ accounts: [account.id] }, (tx) =>
      audit.record(tx, { kind: 'assistant.tool', by: account.id, detail }),
    )
  }

  /** Runs a tool; does not wait for one that ignores its signal. */
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

    /** Executes one call. Errors become results for the model; only bugs are thrown. */
    async execute(call: ModelCall, context: CallContext): Promise<Outcome> {
      const { tools, tainted, allowed, account, room, conversation, changeSet, signal } = context
      signal.throwIfAborted()
      const tool = tools.find(({ name }) => name === call.name)
      if (!tool) {
        await record(context, call.name, call.arguments, 'unknown')
        const known = tools.map(({ name }) => name).join(', ') || 'none'
        return failed(
          `Error: ${call.name === '' ? 'the call could not be read' : 'there is no such tool'}. Tools: ${known}.`,
        )
      }
      const args = readArguments(tool, call)
      if (typeof args === 'string') {
        await record(context, tool.name, call.arguments, 'bad arguments')
        return failed(`Error: ${args}`)
      }
      const effect = effectOf(tool, args)
      if (isFault(effect)) {
        await record(context, tool.name, args, 'failed')
        return failed(`Error: ${effect.message}`)
      }
      if (room !== undefined && effect !== 'reads') {
        await record(context, tool.name, args, 'blocked: in a room')
        return { text: 'Error: this is not possible in a chat room.', untrusted: false, status: 'blocked' }
      }
      if (!allowed && tainted && NEEDS_CONFIRMATION.has(effect)) {
        await record(context, tool.name, args, 'blocked: needs a confirmation')
        return { pending: { tool: tool.name, summary: summaryOf(tool.name, args), arguments: args } }
      }
      const toolCall = { account, conversation, changeSet, signal, ...(room !== undefined && { room }) }
      const { text, action, failed: isFailure = false } = await run(tool, args, toolCall)
      await record(context, tool.name, args, isFailure ? 'failed' : 'done')
      const result = cutTo(text, bounds.result, '\n[cut: the result is longer]')
      return {
        text: result,
        untrusted: tool.untrusted,
        status: isFailure ? 'failed' : 'done',
        ...(action && { action }),
      }
    },

    declined: (call: ModelCall, context: CallContext): Promise<void> =>
      record(context, call.name, argumentsOf(call), 'blocked: declined by the user'),
  }
}

export type ToolCalls = ReturnType<typeof makeToolCalls>

function readArguments({ parameters }: Tool, call: ModelCall): Arguments | string {
  const value = argumentsOf(call)
  if (!value) return `the arguments must be one whole JSON object, nested at most ${ARGUMENT_DEPTH} levels deep.`
  const args = Object.fromEntries(
    Object.keys(parameters.properties).flatMap((name) => (Object.hasOwn(value, name) ? [[name, value[name]]] : [])),
  )
  const [problem] = Value.Errors(parameters, args)
  if (problem) return `the arguments do not fit: ${problem.instancePath.slice(1) || 'they'} ${problem.message}.`
  const unstorable = Object.entries(args).find(([, one]) => !isStorable(one))
  return unstorable ? `the argument ${unstorable[0]} holds a character that cannot be stored.` : args
}

/** Whether every text in a value can be stored. */
function isStorable(value: unknown): boolean {
  if (typeof value === 'string') return isSound(value)
  if (typeof value !== 'object' || value === null) return true
  return Object.entries(value).every(([name, one]) => isSound(name) && isStorable(one))
}
