import { MINUTE, type Clock } from '../../../base/clock.ts'
import { insertMention, mentionCount } from '../../../storage/assistant/mentions.ts'
import type { MessageListener } from '../../chat/chat.ts'
import type { Settings } from '../../instance/instance.ts'

/** Maximum number of mentions waiting in one room. */
const MAX_WAITING = 5

/** Records mentions of the assistant in chat rooms. */
export interface MentionListener extends MessageListener {
  /** Calls `listener` for every room with a new mention from now on. */
  onMention(notify: (room: number) => void): void
}

interface Deps {
  clock: Clock
  settings: Settings
}

/** Names after an `@` that is not within an address or a longer name. */
const MENTIONED = /(?<![\p{L}\p{N}_@.-])@([\p{L}\p{N}_-]+)/gu

/** Whether a text mentions a name, in any case. */
export function mentions(content: string, name: string): boolean {
  const wanted = name.toLowerCase()
  return [...content.matchAll(MENTIONED)].some(([, found]) => found!.toLowerCase() === wanted)
}

/** Records mentions up to a limit per user and room; mentions beyond it are ordinary messages. */
export function makeMentionListener({ clock, settings }: Deps): MentionListener {
  let notify: (room: number) => void = () => undefined
  /** Times of the mentions of each user within the last minute. */
  const recent = new Map<number, number[]>()
  const counted = new WeakSet()

  async function isRateLimited(user: number, request: object): Promise<boolean> {
    if (counted.has(request)) return false
    const values = await settings.values()
    if (!values['limits.enabled']) return false
    const since = clock.now() - MINUTE
    for (const [other, times] of recent) if (times.at(-1)! <= since) recent.delete(other)
    const times = (recent.get(user) ?? []).filter((time) => time > since)
    if (times.length >= values['limits.assistant']) return true
    recent.set(user, [...times, clock.now()])
    counted.add(request)
    return false
  }

  return {
    // A cheap test first: most messages mention nobody.
    isFor: async (content) => content.includes('@') && mentions(content, (await settings.values())['assistant.name']),
    async record(tx, { id, room_id, user_id }, request) {
      if ((await isRateLimited(user_id, request)) || (await mentionCount(tx, room_id)) >= MAX_WAITING) return false
      await insertMention(tx, { message_id: id, room_id, user_id, asked_at: clock.now() })
      return true
    },
    committed: (room) => notify(room),
    onMention(listener) {
      notify = listener
    },
  }
}
