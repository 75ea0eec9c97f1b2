import { iso } from '../../base/clock.ts'
import type { Answer } from '../../contract/define.ts'
import type { teamChat } from '../../contract/team-chat.ts'
import type { Message } from '../../storage/chat/messages.ts'
import { reactionsTo, type Reaction } from '../../storage/chat/reactions.ts'
import type { Reader } from '../../storage/engine/database.ts'
import { FORMER_USER } from '../../storage/accounts/former-user.ts'

export type ShownMessage = Answer<typeof teamChat.actions.send>['message']
export type ShownReactions = ShownMessage['reactions']

/** A message without the fields that depend on the reader. */
export interface SharedMessage extends Omit<ShownMessage, 'reactions'> {
  reactions: Omit<ShownReactions[number], 'mine'>[]
}

/** Groups the reactions to one message by emoji, in order of the first one. */
export function groupByEmoji(reactions: readonly Reaction[]): SharedMessage['reactions'] {
  const users = new Map<string, number[]>()
  for (const { emoji, user_id } of reactions) {
    const own = users.get(emoji)
    if (own) own.push(user_id)
    else users.set(emoji, [user_id])
  }
  return [...users].map(([emoji, user_ids]) => ({ emoji, count: user_ids.length, user_ids }))
}

export const assistantDisplayName = (name: string): string => name.charAt(0).toUpperCase() + name.slice(1)

const ASSISTANT_COLOR = '#6b5b95'

function viewOf(message: Message, reactions: readonly Reaction[]): SharedMessage {
  const { id, timestamp, edited_at, is_assistant, changed_at: _, spoken_by, ...rest } = message
  const spoken = spoken_by !== null && {
    username: spoken_by,
    display_name: assistantDisplayName(spoken_by),
    avatar_color: ASSISTANT_COLOR,
  }
  return {
    message_id: id,
    ...rest,
    ...(spoken || (rest.username === FORMER_USER && { is_former: true })),
    timestamp: iso(timestamp),
    edited_at: edited_at === null ? null : iso(edited_at),
    is_assistant: is_assistant === 1,
    reactions: groupByEmoji(reactions),
  }
}

export async function viewsOf(on: Reader, messages: readonly Message[]): Promise<SharedMessage[]> {
  // Reactions set `changed_at`: most pages need no second query.
  const changed = messages.filter(({ changed_at }) => changed_at > 0).map(({ id }) => id)
  const reactions = new Map<number, Reaction[]>(changed.map((id) => [id, []]))
  for (const reaction of await reactionsTo(on, changed)) reactions.get(reaction.message_id)!.push(reaction)
  return messages.map((message) => viewOf(message, reactions.get(message.id) ?? []))
}

export const reactionsFor = (user: number, reactions: SharedMessage['reactions']): ShownReactions =>
  reactions.map((reaction) => ({ ...reaction, mine: reaction.user_ids.includes(user) }))

export const shownTo = (user: number, messages: readonly SharedMessage[]): ShownMessage[] =>
  messages.map((message) => ({ ...message, reactions: reactionsFor(user, message.reactions) }))
