import type { ChalkInstance } from 'chalk'
import { parseBlocks, renderBlocks } from '../markdown.ts'

/** What is drawn on: a terminal's standard output, or a stand-in. */
export interface Surface {
  write(text: string): void
  /** Columns and rows at this moment. */
  size(): { columns: number; rows: number }
}

export interface LiveText {
  /** Takes the next piece of Markdown. */
  add(text: string): void
  /** Writes something between, on lines of its own. */
  interrupt(write: () => void): void
  /** Draws what is left and begins anew. */
  end(): void
}

/** At most so often the block that is still growing is drawn again, in milliseconds. */
const FRAME = 60

const WIDEST = 100

/**
 * Markdown on a terminal while it arrives: blocks that are finished stand for good; the one that still grows is drawn
 * again with each change, as much of it as fits on the screen.
 */
export function makeLiveText(surface: Surface, paint: ChalkInstance): LiveText {
  let source = ''
  /** Lines of the growing block on the screen. */
  let drawn = 0
  let isFirst = true
  let timer: NodeJS.Timeout | undefined

  const layout = () => ({ paint, width: Math.max(20, Math.min(WIDEST, surface.size().columns - 1)) })

  const erase = (): string => {
    const codes = drawn > 0 ? `\x1b[${drawn}A\x1b[0J` : ''
    drawn = 0
    return codes
  }

  /** Lines that stand for good, after a blank one where something stands above. */
  function finishedLines(lines: string[]): string {
    if (lines.length === 0) return ''
    const above = isFirst ? '' : '\n'
    isFirst = false
    return `${above}${lines.join('\n')}\n`
  }

  function draw(isFinished: boolean): void {
    clearTimeout(timer)
    timer = undefined
    const tokens = parseBlocks(source)
    const growing = isFinished ? [] : tokens.splice(-1)
    // What is blank at the end may still belong to the block before it.
    if (growing[0]?.type === 'space') growing.unshift(...tokens.splice(-1))
    // Cut by length: of blanks at its end a block does not keep which they were.
    source = source.slice(tokens.reduce((sum, { raw }) => sum + raw.length, 0))
    let output = erase() + finishedLines(renderBlocks(tokens, layout()))
    const lines = renderBlocks(growing, layout())
    if (lines.length > 0) {
      // A line that has left the screen could not be taken back.
      const shown = (isFirst ? lines : ['', ...lines]).slice(-(surface.size().rows - 2))
      drawn = shown.length
      output += `${shown.join('\n')}\n`
    }
    if (output !== '') surface.write(output)
  }

  return {
    add(text) {
      source += text.replaceAll('\r', '')
      timer ??= setTimeout(() => draw(false), FRAME)
    },
    interrupt(write) {
      surface.write(erase())
      write()
      if (source !== '') draw(false)
    },
    end() {
      draw(true)
      source = ''
      isFirst = true
    },
  }
}
