import type { ModelCall, ModelFunction, ModelMessage } from '../../../base/language-model.ts'

// Tools for models without function calling: the model writes calls into its text, `<tool_call name="…">{…}</tool_call>`.
// Nothing in a call is expanded or decoded, and text of tools and users is escaped so that it cannot look like one.

const OPEN = '<tool_call'
const HEAD = /^<tool_call name="([a-z_]{1,64})">/
const CLOSE = '</tool_call>'
/** Maximum length of an opening tag; a longer one is not a call. */
const LONGEST_HEAD = OPEN.length + 80

/** Escapes the syntax of tools. */
const withoutToolSyntax = (text: string): string => text.replace(/<(?=\/?\s*tool_)/gi, '&lt;')

/** The instructions for a model: its tools and how to call them. */
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

/** Converts messages for models without function calling: calls and results become text. */
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
        plain.push({ role: 'assistant', text: assistantText(message), calls: [] })
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

function assistantText({ text, calls }: { text: string; calls: readonly ModelCall[] }): string {
  const lines = calls.map((call) => `<tool_call name="${call.name}">${call.arguments}</tool_call>`)
  return [withoutToolSyntax(text), ...lines].filter((line) => line !== '').join('\n')
}

export interface CallReader {
  feed(chunk: string): string
  end(): string
  /** The calls found, in order; a malformed one has no name. */
  calls: ModelCall[]
}

/** Parses calls in a streamed text. Text after a call is dropped: the model has not seen its result yet. */
export function makeCallReader(): CallReader {
  const calls: ModelCall[] = []
  let buffer = ''

  const addCall = (name: string, text: string) => calls.push({ id: `call_${calls.length + 1}`, name, arguments: text })
  const visible = (text: string): string => (calls.length === 0 ? text : '')

  /** Consumes the unambiguous start of the buffer. */
  function consume(isEnd: boolean): string {
    let output = ''
    for (;;) {
      const at = buffer.indexOf('<')
      if (at < 0) {
        output += visible(buffer)
        buffer = ''
        return output
      }
      output += visible(buffer.slice(0, at))
      buffer = buffer.slice(at)
      const isCall = buffer.startsWith(OPEN)
      if (!isCall && (isEnd || !OPEN.startsWith(buffer))) {
        output += visible('<')
        buffer = buffer.slice(1)
        continue
      }
      const rest = isCall ? readCall(isEnd) : buffer
      if (rest === buffer) return output
      buffer = rest
    }
  }

  /** Returns the text after the call at the start of the buffer, or the whole buffer if the call is incomplete. */
  function readCall(isEnd: boolean): string {
    const head = HEAD.exec(buffer)
    if (!head) {
      if (!isEnd && buffer.length < LONGEST_HEAD && !buffer.includes('>')) return buffer
      addCall('', '')
      return buffer.slice(OPEN.length)
    }
    const close = buffer.indexOf(CLOSE, head[0].length)
    if (close < 0) {
      if (!isEnd) return buffer
      addCall('', '')
      return ''
    }
    addCall(head[1]!, buffer.slice(head[0].length, close).trim())
    return buffer.slice(close + CLOSE.length)
  }

  return {
    calls,
    feed(chunk) {
      buffer += chunk
      return consume(false)
    },
    end() {
      return consume(true)
    },
  }
}
