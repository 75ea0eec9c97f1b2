import type { ChalkInstance } from 'chalk'
import { parseBlocks, renderBlocks } from '../markdown.ts'

/** The terminal's standard output, or a substitute in tests. */
export interface Surface {
  write(text: string): void
  size(): { columns: number; rows: number }
}

export interface LiveText {
  /** Appends Markdown. */
  add(text: string): void
  /** Lets `write` print other lines between finished blocks. */
  interrupt(write: () => void): void
  /** Draws the rest and resets. */
  end(): void
}

/** Shortest interval between redraws of the unfinished block, ms. */
const FRAME = 60

const WIDEST = 100

/**
 * Renders Markdown on a terminal while it arrives: finished blocks are printed once; the unfinished one is redrawn with
 * each change, as much of it as fits on the screen.
 */
export function makeLiveText(surface: Surface, paint: ChalkInstance): LiveText {
  let source = ''
  /** Lines of the unfinished block on the screen. */
  let drawn = 0
  let isFirst = true
  let timer: NodeJS.Timeout | undefined

  const layout = () => ({ paint, width: Math.max(20, Math.min(WIDEST, surface.size().columns - 1)) })

  const erase = (): string => {
    const codes = drawn > 0 ? `\x1b[${drawn}A\x1b[0J` : ''
    drawn = 0
    return codes
  }

  /** Prints lines for good, after a blank line if there is text above. */
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
    // Trailing white space may still belong to the block before it.
    if (growing[0]?.type === 'space') growing.unshift(...tokens.splice(-1))
    // Cut by length: a block does not keep the white space at its end.
    source = source.slice(tokens.reduce((sum, { raw }) => sum + raw.length, 0))
    let output = erase() + finishedLines(renderBlocks(tokens, layout()))
    const lines = renderBlocks(growing, layout())
    if (lines.length > 0) {
      // A line that has scrolled off the screen cannot be erased.
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
