import {
  Bold,
  Code,
  Heading,
  Italic,
  type IconNode,
  List,
  ListOrdered,
  ListTodo,
  Strikethrough,
  TextQuote,
} from 'lucide'
import { IconButton } from './button.tsx'
import type { EditorControls } from './code-editor.ts'
import type { Format } from './formatted-text/format-commands.ts'
import { common } from './words.ts'

const formats = [
  ['heading', Heading],
  ['bold', Bold],
  ['italic', Italic],
  ['strike', Strikethrough],
  ['bullets', List],
  ['numbers', ListOrdered],
  ['tasks', ListTodo],
  ['quote', TextQuote],
  ['code', Code],
] as const satisfies readonly (readonly [Format, IconNode])[]

/** Buttons that format the selection of an editor. */
export function FormatBar({ editor }: { editor: { current: EditorControls | undefined } }) {
  return (
    <div class="format-bar" role="toolbar" aria-label={common('format')}>
      {formats.map(([format, icon]) => (
        <IconButton
          key={format}
          icon={icon}
          size={17}
          label={common(`format_${format}`)}
          // The editor keeps its selection.
          onMouseDown={(event) => event.preventDefault()}
          onClick={() => editor.current?.format(format)}
        />
      ))}
    </div>
  )
}
