import { printable } from '../../../base/text.ts'
import { completionsOf, type Completion, type FindEmoji } from './complete.ts'
import type { Desk } from './desk.ts'
import { beginSelecting, editLast } from './select.ts'
import { slashes } from './slash.ts'
import { submit } from './submit.ts'

const COMMANDS = Object.keys(slashes)

/** Text from elsewhere without what no keyboard types. */
const tidy = (text: string): string =>
  text
    .replace(/\r\n?/g, '\n')
    .replaceAll('\t', '    ')
    .split('\n')
    .map((line) => printable(line).replaceAll('\ufffd', ''))
    .join('\n')

/** What keys and text do while a message is written. */
export function makeWriting(desk: Desk, loaded: () => void) {
  const { session, composer } = desk
  let findEmoji: FindEmoji = () => []
  let nameEmoji = (text: string): string => text
  /** What Tab goes round through, and how much of the text it put there. */
  let round: { completion: Completion; index: number; length: number } | undefined

  async function loadEmoji(): Promise<void> {
    const { emojiLike, emojiNamed } = await import('../../../client/chat/emoji.ts')
    findEmoji = emojiLike
    nameEmoji = emojiNamed
    loaded()
  }

  const offered = (): Completion | undefined =>
    round?.completion ?? completionsOf(composer.before(), session.state, { commands: COMMANDS, emoji: findEmoji })

  function complete(by: number): boolean {
    const completion = offered()
    if (!completion) return false
    const { candidates } = completion
    const index = round
      ? (round.index + by + candidates.length) % candidates.length
      : by > 0
        ? 0
        : candidates.length - 1
    const { text } = candidates[index]!
    composer.replaceBefore(round?.length ?? completion.length, text)
    round = { completion, index, length: text.length }
    return true
  }

  /** `:tada:` becomes the emoji with its last colon. */
  function nameToEmoji(): void {
    const named = /(?:^|[^\p{L}\p{N}_:])(:[a-z0-9_+-]+:)$/iu.exec(composer.before())?.[1]
    if (named === undefined) return
    const emoji = nameEmoji(named)
    if (emoji !== named) composer.replaceBefore(named.length, emoji)
  }

  function changed(): void {
    round = undefined
    if (composer.before().includes(':')) loadEmoji().catch(() => undefined)
    const text = composer.text()
    if (text !== '' && !text.startsWith('/') && (!desk.purpose || desk.purpose.kind === 'reply')) session.typing()
  }

  const keys: Record<string, () => boolean | void> = {
    enter: () => submit(desk),
    'alt-enter': () => composer.insert('\n'),
    'shift-enter': () => composer.insert('\n'),
    'ctrl-j': () => composer.insert('\n'),
    tab: () => complete(1) || (composer.text() === '' && !desk.purpose ? beginSelecting(desk) : undefined),
    'shift-tab': () => complete(-1),
    'shift-up': () => beginSelecting(desk),
    up: () => (composer.text() === '' && !desk.purpose ? editLast(desk) : composer.key('up')),
    escape: () => (round ? (round = undefined) : desk.purpose ? desk.end() : undefined) as void,
  }

  return {
    offered: () => (desk.mode.kind === 'write' ? offered() : undefined),
    chosen: () => round?.index,
    text(text: string, pasted: boolean): void {
      composer.insert(pasted ? tidy(text) : text)
      changed()
      if (text === ':' && !pasted) nameToEmoji()
    },
    key(key: string): boolean {
      if (Object.hasOwn(keys, key)) {
        keys[key]!()
        if (key !== 'tab' && key !== 'shift-tab') round = undefined
        return true
      }
      if (!composer.key(key)) return false
      changed()
      return true
    },
  }
}
