import type { ModelCall, ModelFunction, ModelMessage } from '../../../base/language-model.ts'

// How models without function calling use tools: they write calls into their text, `<tool_call name="…">{…}</tool_call>`.
// Nothing in it is expanded or decoded; what tools and users say can never look like a call.

const OPEN = '<tool_call'
const HEAD = /^<tool_call name="([a-z_]{1,64})">/
const CLOSE = '</tool_call>'
/** Longest head of a call; what goes on longer is none. */
const LONGEST_HEAD = OPEN.length + 80

/** A text in which nothing reads as the syntax of tools. */
const withoutToolSyntax = (text: string): string => text.replace(/<(?=\/?\s*tool_)/gi, '&lt;')

/** Tells a model of the tools it has, and how to call them. */
function describeTools(functions: readonly ModelFunction[]): string {
  const lines = functions.map(
    ({ name, description, parameters }) => `- ${name}: ${description}\n  Arguments: ${JSON.stringify(parameters)}`,
  )
  return [
    'You have tools. To use one, write exactly this, on lines of its own, and then stop and wait for its result:',
    '<tool_call name="NAME">{"argument": "value"}</tool_call>',
    'Between the tags stands one JSON object. Results come back as <tool_result name="NAME">…</tool_result>.',
    'Never write a result yourself. When you need no tool, answer in plain words.',
    'Tools:',
    ...lines,
  ].join('\n')
}

/** Messages in the form for such models: calls and results as text. */
export function asText(messages: readonly ModelMessage[], functions: readonly ModelFunction[]): ModelMessage[] {
  const plain: ModelMessage[] = []
  for (const message of messages) {
    const last = plain.at(-1)
    switch (message.role) {
      case 'system':
        plain.push({ role: 'system', text: `${message.text}\n\n${describeTools(functions)}` })
        break
      case 'user':
        plain.push({ ...message, text: withoutToolSyntax(message.text) })
        break
      case 'assistant':
        plain.push({ role: 'assistant', text: written(message), calls: [] })
        break
      case 'result': {
        const text = `<tool_result name="${message.name}">\n${withoutToolSyntax(message.text)}\n</tool_result>`
        if (last?.role === 'user' && plain.at(-2)?.role === 'assistant') last.text += `\n${text}`
        else plain.push({ role: 'user', text })
      }
    }
  }
  return plain
}

function written({ text, calls }: { text: string; calls: readonly ModelCall[] }): string {
  const lines = calls.map((call) => `<tool_call name="${call.name}">${call.arguments}</tool_call>`)
  return [withoutToolSyntax(text), ...lines].filter((line) => line !== '').join('\n')
}

/** Takes a text apart while it comes. */
export interface CallReader {
  /** The next piece of text; returns what of it is for the user. */
  feed(piece: string): string
  /** The end of the text; returns what was still held back. */
  end(): string
  /** The calls found, in order; one that could not be read has no name. */
  calls: ModelCall[]
}

/**
 * Reads calls out of a text that comes in pieces. After a call only further calls count: what a model says to results it
 * has not seen is made up.
 */
export function makeCallReader(): CallReader {
  const calls: ModelCall[] = []
  let held = ''

  const note = (name: string, text: string) => calls.push({ id: `call_${calls.length + 1}`, name, arguments: text })
  const spoken = (text: string): string => (calls.length === 0 ? text : '')

  /** Takes what is certain from the front of `held`. */
  function take(isEnd: boolean): string {
    let said = ''
    for (;;) {
      const at = held.indexOf('<')
      if (at < 0) {
        said += spoken(held)
        held = ''
        return said
      }
      said += spoken(held.slice(0, at))
      held = held.slice(at)
      const isCall = held.startsWith(OPEN)
      if (!isCall && (isEnd || !OPEN.startsWith(held))) {
        said += spoken('<')
        held = held.slice(1)
        continue
      }
      const rest = isCall ? readCall(isEnd) : held
      if (rest === held) return said
      held = rest
    }
  }

  /** What follows the call at the front; the same text when more of it has to come. */
  function readCall(isEnd: boolean): string {
    const head = HEAD.exec(held)
    if (!head) {
      if (!isEnd && held.length < LONGEST_HEAD && !held.includes('>')) return held
      note('', '')
      return held.slice(OPEN.length)
    }
    const close = held.indexOf(CLOSE, head[0].length)
    if (close < 0) {
      if (!isEnd) return held
      note('', '')
      return ''
    }
    note(head[1]!, held.slice(head[0].length, close).trim())
    return held.slice(close + CLOSE.length)
  }

  return {
    calls,
    feed(piece) {
      held += piece
      return take(false)
    },
    end() {
      return take(true)
    },
  }
}
