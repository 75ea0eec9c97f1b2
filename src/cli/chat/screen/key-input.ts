import { emitKeypressEvents, type Interface, type Key } from 'node:readline'

/** What somebody did: text that was typed or pasted, a key such as `alt-enter`, or the window gaining or losing the focus. */
export type Input = { text: string; pasted: boolean } | { key: string } | { focused: boolean }

/** How long a lone escape waits for the rest of a sequence, milliseconds. */
const ESCAPE_MS = 40

const NAMES: Record<string, string> = { return: 'enter', enter: 'ctrl-j', backspace: 'backspace' }

/** A key with its modifiers in one word. */
function keyName({ name, ctrl, meta, shift, sequence = '' }: Key): string | undefined {
  if (sequence === '\u001b[13;2u') return 'shift-enter'
  if (name === undefined || name === 'undefined') return undefined
  if (name === 'escape') return 'escape'
  const modifiers = `${ctrl ? 'ctrl-' : ''}${meta ? 'alt-' : ''}${shift ? 'shift-' : ''}`
  return modifiers + (NAMES[name] ?? name)
}

/** Reads what is typed until it is stopped; while it is paused, other programs have the terminal. */
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
  // Only this one setting of an interface is looked at.
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
