import { emitKeypressEvents, type Interface, type Key } from 'node:readline'

export type Input = { text: string; pasted: boolean } | { key: string } | { focused: boolean }

/** How long to wait for the rest of an escape sequence, ms. */
const ESCAPE_MS = 40

const NAMES: Record<string, string> = { return: 'enter', enter: 'ctrl-j', backspace: 'backspace' }

/** A key with its modifiers, for example `ctrl-left`. */
function keyName({ name, ctrl, meta, shift, sequence = '' }: Key): string | undefined {
  if (sequence === '\u001b[13;2u') return 'shift-enter'
  if (name === undefined || name === 'undefined') return undefined
  if (name === 'escape') return 'escape'
  const modifiers = `${ctrl ? 'ctrl-' : ''}${meta ? 'alt-' : ''}${shift ? 'shift-' : ''}`
  return modifiers + (NAMES[name] ?? name)
}

/** Reads the keyboard until stopped; while paused, other programs have the terminal. */
export function readKeys(input: NodeJS.ReadStream, onInput: (input: Input) => void) {
  let pasting: string | undefined
  const onKey = (text: string | undefined, key: Key): void => {
    if (key.name === 'paste-start') pasting = ''
    else if (key.name === 'paste-end') {
      if (pasting) onInput({ text: pasting, pasted: true })
      pasting = undefined
    } else if (pasting !== undefined) pasting += text ?? ''
    else if (key.sequence === '\u001b[I' || key.sequence === '\u001b[O')
      onInput({ focused: key.sequence.endsWith('I') })
    else if (text !== undefined && !key.ctrl && !key.meta && /^[^\p{Cc}]+$/u.test(text))
      onInput({ text, pasted: false })
    else {
      const word = keyName(key)
      if (word !== undefined) onInput({ key: word })
    }
  }
  // `emitKeypressEvents` reads only this setting of the interface.
  emitKeypressEvents(input, { escapeCodeTimeout: ESCAPE_MS } as unknown as Interface)
  const resume = (): void => {
    input.on('keypress', onKey)
    input.setRawMode(true)
    input.resume()
  }
  const pause = (): void => {
    input.off('keypress', onKey)
    input.setRawMode(false)
    input.pause()
  }
  return { resume, pause }
}
