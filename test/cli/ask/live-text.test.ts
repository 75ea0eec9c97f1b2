import { Chalk } from 'chalk'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { makeLiveText } from '../../../src/cli/ask/live-text.ts'

// A terminal that understands what is written to it here: line ends, up, and clear to the end.
function terminal(rows = 24, columns = 40) {
  const lines: string[] = ['']
  let row = 0
  let top = 0
  return {
    surface: {
      size: () => ({ columns, rows }),
      write(text: string) {
        // oxlint-disable-next-line no-control-regex
        for (const part of text.split(/(\u001b\[\d+[AJ]|\n)/)) {
          // oxlint-disable-next-line no-control-regex
          const [, count, code] = /^\u001b\[(\d+)([AJ])$/.exec(part) ?? []
          if (code === 'A') {
            row -= Number(count)
            if (row < top) throw new Error('The cursor left the screen.')
          } else if (code === 'J') lines.splice(row, Infinity, '')
          else if (part === '\n') {
            row += 1
            if (row === lines.length) lines.push('')
            top = Math.max(top, lines.length - rows)
          } else lines[row] += part
        }
      },
    },
    shown: () => lines.join('\n').trimEnd(),
  }
}

const paint = new Chalk({ level: 0 })

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const ANSWER =
  '# Plan\n\nFirst **this** and `that`.\n\n- one\n- two\n  - deep\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n```\ncode\n\nmore\n```\n\nThe end.'

const WHOLE = 'Plan\n\nFirst this and that.\n\n• one\n• two\n  • deep\n\na  b\n1  2\n\n  code\n  \n  more\n\nThe end.'

describe('an answer that grows', () => {
  test.each([1, 3, 11, 1_000])('ends the same in pieces of %i characters', (size) => {
    const { surface, shown } = terminal()
    const live = makeLiveText(surface, paint)
    for (let at = 0; at < ANSWER.length; at += size) {
      live.add(ANSWER.slice(at, at + size))
      vi.advanceTimersByTime(100)
    }
    live.end()
    expect(shown()).toBe(WHOLE)
  })

  test('is seen before it is complete', () => {
    const { surface, shown } = terminal()
    const live = makeLiveText(surface, paint)
    live.add('Hello **wor')
    vi.advanceTimersByTime(100)
    expect(shown()).toBe('Hello **wor')
    live.add('ld**')
    vi.advanceTimersByTime(100)
    expect(shown()).toBe('Hello world')
  })

  test('never goes back to what has left the screen', () => {
    const { surface, shown } = terminal(6)
    const live = makeLiveText(surface, paint)
    const items = Array.from({ length: 40 }, (_, number) => `- item ${number}\n`)
    for (const item of items) {
      live.add(item)
      vi.advanceTimersByTime(100)
    }
    live.end()
    expect(shown().split('\n').slice(-40)).toEqual(items.map((item) => item.trim().replace('-', '•')))
  })

  test('makes room for a remark between', () => {
    const { surface, shown } = terminal()
    const live = makeLiveText(surface, paint)
    live.add('One mo')
    vi.advanceTimersByTime(100)
    live.interrupt(() => surface.write('· a tool\n'))
    live.add('ment.')
    live.end()
    expect(shown()).toBe('· a tool\nOne moment.')
  })
})
