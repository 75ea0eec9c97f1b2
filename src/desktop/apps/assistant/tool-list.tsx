import { Check, CircleSlash, TriangleAlert } from 'lucide'
import { Icon } from '../../kit/icon.tsx'
import { toolName, toolObject } from './tool-words.ts'
import type { ToolUse } from './turns.ts'
import { words } from './words.ts'

const statusViews = {
  done: { icon: Check, word: 'done' },
  failed: { icon: TriangleAlert, word: 'tool_failed' },
  blocked: { icon: CircleSlash, word: 'blocked' },
  running: { icon: undefined, word: 'running' },
} as const

/** A tool call: its name, object and result. */
function Line({ tool }: { tool: ToolUse }) {
  const { icon, word } = statusViews[tool.status]
  const object = toolObject(tool)
  return (
    <li class={`tool ${tool.status}`}>
      {icon ? <Icon of={icon} size={15} /> : <span class="spinner" aria-hidden="true" />}
      <span>
        <strong>{toolName(tool.name)}</strong> {object}
      </span>
      <small>{words(word)}</small>
    </li>
  )
}

/** The tool calls of an answer, in order. */
export const ToolList = ({ tools }: { tools: readonly ToolUse[] }) =>
  tools.length === 0 ? null : (
    <ul class="tools" aria-label={words('tools')}>
      {tools.map((tool, index) => (
        <Line key={index} tool={tool} />
      ))}
    </ul>
  )
