import { expect, test } from 'vitest'
import type { Local } from '../../../src/wiring/local-domain.ts'
import { askFor, stage } from '../../support/assistant.ts'
import { contentsOf, exported, imported } from './world.ts'

const linesOf = (content: Buffer | undefined): unknown[] =>
  (content?.toString() ?? '')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as unknown)

const waiting = { signal: new AbortController().signal, emit: () => undefined }

async function conversationsOf({ domain }: Local, user: number) {
  const { list, messages } = domain.assistant.conversations
  const found = await list(user)
  return Promise.all(
    found.map(async ({ title, created_at, updated_at, conversation_id }) => ({
      title,
      created_at,
      updated_at,
      messages: (await messages(user, conversation_id)).map(({ message_id: _, ...message }) => message),
    })),
  )
}

test('conversations with the assistant go along, and go on where they were', async () => {
  const [here, there] = [await stage(), await stage()]
  const { ada } = here
  await askFor(await here.server.account(), { message: 'What is none of her business' })
  here.model.will(
    { calls: [{ name: 'write_file', arguments: { path: '/plan.txt', content: 'first' } }] },
    { text: 'It is in **/plan.txt**.' },
  )
  const { conversation_id } = await askFor(ada, { message: 'Write the plan' })
  here.server.clock.pass(60_000)
  await askFor(ada, { message: 'Something else' })
  here.server.clock.pass(60_000)
  await askFor(ada, { message: 'And the plan?', conversation_id })

  const archive = await exported(here.server.local, ada.username)
  const entries = await contentsOf(archive)
  expect(archive.includes('none of her business')).toBe(false)
  expect(linesOf(entries.get('assistant/changes.jsonl')?.content)).toMatchObject([
    { conversation_id, undoes: null, items: [{ kind: 'made', target: '/plan.txt', undone: false }] },
  ])

  // Numbers of conversations differ there.
  await askFor(there.ada, { message: 'Hello' })
  expect(await imported(there.server.local, archive, { username: 'grace' })).toEqual([])
  const { domain } = there.server.local
  const grace = await domain.accounts.byName('grace')
  const arrived = await conversationsOf(there.server.local, grace.id)
  expect(arrived).toEqual(await conversationsOf(here.server.local, ada.id))
  expect(arrived.map(({ messages }) => messages.length)).toEqual([4, 2])
  expect((await domain.assistant.changes.list(grace.id, {})).changes).toEqual([])

  // What the archive says was said is anybody's word: what destroys something is asked for.
  const known = (await domain.assistant.conversations.list(grace.id))[0]!.conversation_id
  there.server.clock.pass(600_000)
  there.model.will({ calls: [{ name: 'delete_file', arguments: { path: '/plan.txt' } }] })
  const answer = await domain.assistant.ask(grace, { message: 'Delete it', conversation_id: known }, waiting)
  expect(
    there.model.heard
      .at(-1)!
      .messages.slice(1)
      .map(({ content }) => content),
  ).toEqual(['Write the plan', 'It is in **/plan.txt**.', 'And the plan?', 'Hello.', 'Delete it'])
  expect(answer.actions).toMatchObject([{ type: 'confirm' }])

  // What waits for the user's word stays behind, and is asked for anew.
  expect(await imported(here.server.local, await exported(there.server.local, 'grace'))).toEqual([])
  const back = await here.server.local.domain.accounts.byName('grace')
  const [first] = await conversationsOf(here.server.local, back.id)
  expect(first!.messages.at(-1)).toMatchObject({ content: expect.stringMatching(/^May I/) as string, actions: [] })
})

test('a long conversation goes along whole', async () => {
  const [here, there] = [await stage(), await stage()]
  const { ada } = here
  here.model.will({ text: 'a '.repeat(100_000) })
  const { conversation_id } = await askFor(ada, { message: 'Say much' })
  await here.server.database.write('instance', async (tx) => {
    for (let count = 0; count < 250; count += 1)
      await tx.q
        .insertInto('assistant_messages')
        .values({ conversation_id, role: 'user', content: `${count}`, actions: '[]', created_at: count })
        .execute()
  })
  await imported(there.server.local, await exported(here.server.local, ada.username))
  const arrived = await there.server.local.domain.accounts.byName(ada.username)
  expect(await conversationsOf(there.server.local, arrived.id)).toEqual(
    await conversationsOf(here.server.local, ada.id),
  )
})
