import { makeAccount, withService } from './account.ts'
import { openRoom, pathOf } from './chat.ts'
import { requestTo, withConnections } from './connection.ts'
import type { Figure } from './figure.ts'
import { noProsody, withProsody } from './prosody.ts'
import { interleave, rate, share } from './rounds.ts'
import { numbers, TEXT } from './samples.ts'
import type { Workspace } from './workspace.ts'

// Messages sent to rooms, compared with a chat server that archives them without flushing.

const MESSAGES = 500

const against = (clients: number) => async (workspace: Workspace) => {
  const account = await makeAccount(workspace)
  const { token } = account
  return withService(workspace, account, ({ url }) =>
    withConnections(url, clients, (connections) =>
      withProsody(workspace, clients, async (members) => {
        const own = await Promise.all(
          connections.map(async (connection) => {
            const body = JSON.stringify({ room_id: await openRoom(url, token, connection), content: TEXT })
            const type = 'application/json'
            const request = requestTo(url, {
              method: 'POST',
              path: pathOf('send'),
              token,
              type,
              body: Buffer.from(body),
            })
            return { connection, request }
          }),
        )
        const messages = numbers(MESSAGES)
        return interleave({
          ours: () => rate(MESSAGES, () => share(own, messages, ({ connection, request }) => connection.ask(request))),
          peer: () => rate(MESSAGES, () => share(members, messages, (member) => member.send(TEXT))),
          rounds: 5,
        })
      }),
    ),
  )
}

const figure = (name: string, clients: number, least: number): Figure => ({
  name,
  unit: 'messages/s',
  peer: `Prosody, rooms with an archive that is not flushed, clients: ${clients}`,
  wanted: { least },
  missing: noProsody,
  measure: against(clients),
})

/** Sending messages from one client, and from eight, each in its own room. */
export const chatPeers: readonly Figure[] = [figure('chat-prosody', 1, 1.1), figure('chat-prosody-eight', 8, 3)]
