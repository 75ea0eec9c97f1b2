import { iso } from '../../base/clock.ts'
import { conversationsAfter, turnsAfter, type Conversation } from '../../storage/assistant/conversations.ts'
import { itemsOf, setsOf } from '../../storage/assistant/ledger.ts'
import type { Reader } from '../../storage/engine/database.ts'
import { names } from './layout.ts'
import type { Tar } from './tar.ts'

const PAGE = 200

export async function writeAssistant(tar: Tar, at: Reader, user: number): Promise<void> {
  await tar.lines(names.conversations, () => conversationsOf(at, user))
  await tar.lines(names.conversation_messages, () => messagesOf(at, user))
  await tar.lines(names.assistant_changes, () => changesOf(at, user))
}

async function* stored(at: Reader, user: number): AsyncGenerator<Conversation> {
  for (let after = 0; ;) {
    const page = await conversationsAfter(at, user, after, PAGE)
    yield* page
    if (page.length < PAGE) return
    after = page.at(-1)!.id
  }
}

async function* conversationsOf(at: Reader, user: number): AsyncGenerator<unknown> {
  for await (const { id, title, created_at, updated_at } of stored(at, user))
    yield { id, title, created_at: iso(created_at), updated_at: iso(updated_at) }
}

/** Messages per query, because they may be long. */
const MESSAGES = 20

async function* messagesOf(at: Reader, user: number): AsyncGenerator<unknown> {
  for await (const { id: conversation_id } of stored(at, user))
    for (let after = 0; ;) {
      const page = await turnsAfter(at, conversation_id, after, MESSAGES)
      for (const { role, content, actions, created_at } of page)
        yield { conversation_id, role, content, actions: JSON.parse(actions) as unknown, at: iso(created_at) }
      if (page.length < MESSAGES) break
      after = page.at(-1)!.id
    }
}

/** Newest first, as the ledger is read; without the data for an undo, which only works on this server. */
async function* changesOf(at: Reader, user: number): AsyncGenerator<unknown> {
  for (let before: number | undefined; ;) {
    const page = await setsOf(at, user, { before, limit: PAGE })
    const items = await itemsOf(
      at,
      page.map(({ id }) => id),
    )
    for (const { id, conversation_id, undoes, created_at } of page) {
      const changes = items
        .filter((item) => item.change_set_id === id)
        .map(({ kind, target, undone_by }) => ({ kind, target, undone: undone_by !== null }))
      yield { id, conversation_id, undoes, at: iso(created_at), items: changes }
    }
    if (page.length < PAGE) return
    before = page.at(-1)!.id
  }
}
