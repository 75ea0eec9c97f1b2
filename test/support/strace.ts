import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'

/** A system call of a traced process. */
export interface SystemCall {
  name: string
  /** The text between the parentheses. */
  arguments: string
  result: string
  /** Lines of the trace on which the call began and ended; the order of lines is the order of events. */
  began: number
  ended: number
}

/** Undefined if this machine permits tracing; otherwise the reason. */
export async function straceMissing(): Promise<string | undefined> {
  try {
    await promisify(execFile)('strace', ['-o', '/dev/null', 'true'])
    return undefined
  } catch (error) {
    return `strace does not work here: ${(error as Error).message.split('\n')[0]}`
  }
}

const WHOLE = /^(\w+)\((.*)\)\s+= (.*)$/
const UNFINISHED = /^(\w+)\((.*) <unfinished \.\.\.>$/
const RESUMED = /^<\.\.\. (\w+) resumed>(.*)\)\s+= (.*)$/

/** The calls of a trace of `strace -f -y -o FILE`, in the order in which they began. */
export async function readTrace(file: string): Promise<SystemCall[]> {
  const calls: SystemCall[] = []
  const open = new Map<string, SystemCall>()
  for (const [line, text] of (await readFile(file, 'utf8')).split('\n').entries()) {
    const [, thread = '', rest = ''] = /^(\d+)\s+(.*)$/.exec(text) ?? []
    const whole = WHOLE.exec(rest)
    const unfinished = whole ? null : UNFINISHED.exec(rest)
    const resumed = whole || unfinished ? null : RESUMED.exec(rest)
    if (whole) calls.push({ name: whole[1]!, arguments: whole[2]!, result: whole[3]!, began: line, ended: line })
    if (unfinished) {
      const call = { name: unfinished[1]!, arguments: unfinished[2]!, result: '', began: line, ended: Infinity }
      open.set(thread, call)
      calls.push(call)
    }
    const waiting = resumed && open.get(thread)
    if (waiting)
      Object.assign(waiting, { arguments: waiting.arguments + resumed[2]!, result: resumed[3]!, ended: line })
  }
  return calls
}
