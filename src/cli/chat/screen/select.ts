import type { Message } from '../../../client/chat/follow-room.ts'
import { teamChat } from '../../../contract/team-chat.ts'
import type { Desk } from './desk.ts'
import { safe } from './markup.ts'

const messagesOf = ({ session: { state } }: Desk): Message[] => state.logs.get(state.current ?? 0)?.messages ?? []

const words = (message: Message): string =>
  `${safe(message.username)}: ${safe(message.content.replace(/\s+/g, ' ').slice(0, 200))}`

/** Marks the newest message, as a beginning of choosing one. */
export function beginSelecting(desk: Desk): void {
  const last = messagesOf(desk).at(-1)
  if (last) desk.mode = { kind: 'select', message: last.message_id }
}

/** Begins to edit the newest message of one's own. */
export function editLast(desk: Desk): void {
  const own = messagesOf(desk).findLast(({ user_id }) => user_id === desk.session.state.me?.id)
  if (own) edit(desk, own)
  else desk.say('None of the messages shown is yours.')
}

function edit(desk: Desk, message: Message): void {
  if (message.user_id !== desk.session.state.me?.id) {
    desk.say('Only own messages can be edited.', 'error')
    return
  }
  desk.begin({ kind: 'edit', message: message.message_id, label: 'Editing' }, message.content)
}

function remove(desk: Desk, { message_id }: Message): void {
  const yes = (): void =>
    desk.doing(async () => void (await desk.session.api.call(teamChat.actions.delete, { message_id })))
  desk.mode = { kind: 'confirm', question: 'Delete this message for everybody?', yes }
}

/** What keys do while a message is marked; false for those that mean nothing then. */
export function selectKey(desk: Desk, key: string): boolean {
  if (desk.mode.kind !== 'select') return false
  const { message: id } = desk.mode
  const all = messagesOf(desk)
  const at = all.findIndex(({ message_id }) => message_id === id)
  const message = all[at]
  const go = (to: number): void => {
    const next = all[Math.max(0, Math.min(all.length - 1, to))]
    if (next) desk.mode = { kind: 'select', message: next.message_id }
    if (to < 3) desk.doing(() => desk.session.older())
  }
  const { message_id } = message ?? { message_id: id }
  const keys: Record<string, () => void> = {
    up: () => go(at - 1),
    'shift-up': () => go(at - 1),
    k: () => go(at - 1),
    'shift-down': () => (at === all.length - 1 ? desk.write() : go(at + 1)),
    down: () => (at === all.length - 1 ? desk.write() : go(at + 1)),
    j: () => (at === all.length - 1 ? desk.write() : go(at + 1)),
    pageup: () => go(at - 10),
    pagedown: () => go(at + 10),
    escape: desk.write,
    tab: desk.write,
    r: () =>
      message &&
      desk.begin({ kind: 'reply', message: message_id, label: `Replying to ${words(message)}` }, desk.composer.text()),
    e: () => message && edit(desk, message),
    enter: () => message && (message.user_id === desk.session.state.me?.id ? edit(desk, message) : keys['r']!()),
    d: () => message && remove(desk, message),
    delete: () => message && remove(desk, message),
    '+': () =>
      message &&
      desk.begin(
        { kind: 'react', message: message_id, label: `Reacting to ${words(message)}: an emoji or :name` },
        ':',
      ),
  }
  if (!Object.hasOwn(keys, key)) return false
  keys[key]!()
  return true
}
