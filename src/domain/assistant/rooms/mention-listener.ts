import { MINUTE, type Clock } from '../../../base/clock.ts'
import { insertMention, mentionCount } from '../../../storage/assistant/mentions.ts'
import type { MessageListener } from '../../chat/chat.ts'
import type { Settings } from '../../instance/instance.ts'

/** Mentions that may wait in one room. */
const WAITING = 5

/** Hears in rooms who speaks to the assistant. */
export interface MentionListener extends MessageListener {
  /** Tells `hear` of every room in which somebody did, from now on. */
  onMention(hear: (room: number) => void): void
}

interface Parts {
  clock: Clock
  settings: Settings
}

/** Whether a text speaks to somebody of this name: `@name`, neither in an address nor in a longer name. */
export function mentions(content: string, name: string): boolean {
  const literal = name.replace(/[^a-z0-9]/gi, '\\$&')
  return new RegExp(`(?<![\\p{L}\\p{N}_@.-])@${literal}(?![\\p{L}\\p{N}_-])`, 'iu').test(content)
}

/** Takes mentions down, so many for a user and a room; more of them are messages like any other. */
export function makeMentionListener({ clock, settings }: Parts): MentionListener {
  let hear: (room: number) => void = () => undefined
  /** Times of the mentions of each user within the last minute. */
  const recent = new Map<number, number[]>()

  async function isTooOften(user: number): Promise<boolean> {
    const values = await settings.values()
    if (!values['limits.enabled']) return false
    const since = clock.now() - MINUTE
    for (const [other, times] of recent) if (times.at(-1)! <= since) recent.delete(other)
    const times = (recent.get(user) ?? []).filter((time) => time > since)
    if (times.length >= values['limits.assistant']) return true
    recent.set(user, [...times, clock.now()])
    return false
  }

  return {
    // Most messages speak to nobody and need no further look.
    isFor: async (content) => content.includes('@') && mentions(content, (await settings.values())['assistant.name']),
    async note(tx, { id, room_id, user_id }) {
      if ((await isTooOften(user_id)) || (await mentionCount(tx, room_id)) >= WAITING) return false
      await insertMention(tx, { message_id: id, room_id, user_id, asked_at: clock.now() })
      return true
    },
    heard: (room) => hear(room),
    onMention(listener) {
      hear = listener
    },
  }
}
