import type { Message } from '../../../client/chat/room-feed.ts'
import { teamChat } from '../../../contract/team-chat.ts'
import type { ScreenState } from './screen-state.ts'
import { sanitize } from './markup.ts'

const messagesOf = ({ session: { state } }: ScreenState): Message[] =>
  state.logs.get(state.current ?? 0)?.messages ?? []

const summaryOf = (message: Message): string =>
  `${sanitize(message.username)}: ${sanitize(message.content.replace(/\s+/g, ' ').slice(0, 200))}`

export function beginSelecting(screen: ScreenState): void {
  const last = messagesOf(screen).at(-1)
  if (last) screen.mode = { kind: 'select', message: last.message_id }
}

export function editLast(screen: ScreenState): void {
  const own = messagesOf(screen).findLast(({ user_id }) => user_id === screen.session.state.me?.id)
  if (own) edit(screen, own)
  else screen.notify('None of the messages shown is yours.')
}

function edit(screen: ScreenState, message: Message): void {
  if (message.user_id !== screen.session.state.me?.id) {
    screen.notify('You can only edit your own messages.', 'error')
    return
  }
  screen.beginPurpose({ kind: 'edit', message: message.message_id, label: 'Editing' }, message.content)
}

function remove(screen: ScreenState, { message_id }: Message): void {
  const yes = (): void =>
    screen.runTask(async () => void (await screen.session.api.call(teamChat.actions.delete, { message_id })))
  screen.mode = { kind: 'confirm', question: 'Delete this message for everyone?', yes }
}

/** Handles keys while a message is selected; false for all others. */
export function selectKey(screen: ScreenState, key: string): boolean {
  if (screen.mode.kind !== 'select') return false
  const { message: id } = screen.mode
  const all = messagesOf(screen)
  const at = all.findIndex(({ message_id }) => message_id === id)
  const message = all[at]
  const go = (to: number): void => {
    const next = all[Math.max(0, Math.min(all.length - 1, to))]
    if (next) screen.mode = { kind: 'select', message: next.message_id }
    if (to < 3) screen.runTask(() => screen.session.older())
  }
  const { message_id } = message ?? { message_id: id }
  const keys: Record<string, () => void> = {
    up: () => go(at - 1),
    'shift-up': () => go(at - 1),
    k: () => go(at - 1),
    'shift-down': () => (at === all.length - 1 ? screen.write() : go(at + 1)),
    down: () => (at === all.length - 1 ? screen.write() : go(at + 1)),
    j: () => (at === all.length - 1 ? screen.write() : go(at + 1)),
    pageup: () => go(at - 10),
    pagedown: () => go(at + 10),
    escape: screen.write,
    tab: screen.write,
    r: () =>
      message &&
      screen.beginPurpose(
        { kind: 'reply', message: message_id, label: `Replying to ${summaryOf(message)}` },
        screen.composer.text(),
      ),
    e: () => message && edit(screen, message),
    enter: () => message && (message.user_id === screen.session.state.me?.id ? edit(screen, message) : keys['r']!()),
    d: () => message && remove(screen, message),
    delete: () => message && remove(screen, message),
    '+': () =>
      message &&
      screen.beginPurpose(
        { kind: 'react', message: message_id, label: `Reacting to ${summaryOf(message)}: an emoji or :name` },
        ':',
      ),
  }
  if (!Object.hasOwn(keys, key)) return false
  keys[key]!()
  return true
}
