import { printable } from '../../../base/text.ts'
import { completionsOf, type Completion, type FindEmoji } from './completions.ts'
import type { ScreenState } from './screen-state.ts'
import { beginSelecting, editLast } from './select-mode.ts'
import { slashCommands } from './slash-commands.ts'
import { submit } from './submit.ts'

const COMMANDS = Object.keys(slashCommands)

/** Removes control characters from pasted text. */
const normalizePaste = (text: string): string =>
  text
    .replace(/\r\n?/g, '\n')
    .replaceAll('\t', '    ')
    .split('\n')
    .map((line) => printable(line).replaceAll('\ufffd', ''))
    .join('\n')

/** Handles input while a message is composed. */
export function makeComposeMode(screen: ScreenState, loaded: () => void) {
  const { session, composer } = screen
  let findEmoji: FindEmoji = () => []
  let nameEmoji = (text: string): string => text
  /** Candidates that Tab cycles through, and the length of the inserted one. */
  let cycle: { completion: Completion; index: number; length: number } | undefined

  async function loadEmoji(): Promise<void> {
    const { emojiLike, emojiNamed } = await import('../../../client/chat/emoji.ts')
    findEmoji = emojiLike
    nameEmoji = emojiNamed
    loaded()
  }

  const offered = (): Completion | undefined =>
    cycle?.completion ?? completionsOf(composer.before(), session.state, { commands: COMMANDS, emoji: findEmoji })

  function complete(by: number): boolean {
    const completion = offered()
    if (!completion) return false
    const { candidates } = completion
    const index = cycle
      ? (cycle.index + by + candidates.length) % candidates.length
      : by > 0
        ? 0
        : candidates.length - 1
    const { text } = candidates[index]!
    composer.replaceBefore(cycle?.length ?? completion.length, text)
    cycle = { completion, index, length: text.length }
    return true
  }

  /** Replaces `:tada:` with the emoji when the last colon is typed. */
  function nameToEmoji(): void {
    const named = /(?:^|[^\p{L}\p{N}_:])(:[a-z0-9_+-]+:)$/iu.exec(composer.before())?.[1]
    if (named === undefined) return
    const emoji = nameEmoji(named)
    if (emoji !== named) composer.replaceBefore(named.length, emoji)
  }

  function changed(): void {
    cycle = undefined
    if (composer.before().includes(':')) loadEmoji().catch(() => undefined)
    const text = composer.text()
    if (text !== '' && !text.startsWith('/') && (!screen.purpose || screen.purpose.kind === 'reply')) session.typing()
  }

  const keys: Record<string, () => boolean | void> = {
    enter: () => submit(screen),
    'alt-enter': () => composer.insert('\n'),
    'shift-enter': () => composer.insert('\n'),
    'ctrl-j': () => composer.insert('\n'),
    tab: () => complete(1) || (composer.text() === '' && !screen.purpose ? beginSelecting(screen) : undefined),
    'shift-tab': () => complete(-1),
    'shift-up': () => beginSelecting(screen),
    up: () => (composer.text() === '' && !screen.purpose ? editLast(screen) : composer.key('up')),
    escape: () => (cycle ? (cycle = undefined) : screen.purpose ? screen.endPurpose() : undefined) as void,
  }

  return {
    offered: () => (screen.mode.kind === 'write' ? offered() : undefined),
    chosen: () => cycle?.index,
    text(text: string, pasted: boolean): void {
      composer.insert(pasted ? normalizePaste(text) : text)
      changed()
      if (text === ':' && !pasted) nameToEmoji()
    },
    key(key: string): boolean {
      if (Object.hasOwn(keys, key)) {
        keys[key]!()
        if (key !== 'tab' && key !== 'shift-tab') cycle = undefined
        return true
      }
      if (!composer.key(key)) return false
      changed()
      return true
    },
  }
}
