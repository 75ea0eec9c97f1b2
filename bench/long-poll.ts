import { setTimeout as pause } from 'node:timers/promises'
import { makeAccount, withService } from './account.ts'
import { answerOf, openRoom, pathOf } from './chat.ts'
import { requestTo, withConnections, type Connection } from './connection.ts'
import { median, type Figure } from './figure.ts'
import { addPeople } from './people.ts'
import { numbers } from './samples.ts'

const CLIENTS = 500
const ACCOUNTS = 50
const ROUNDS = 9
const MOST_MS = 100

/** Time until all clients are waiting. Later ones get the message too, only later. */
const SETTLE_MS = 500

/** Time from sending a message until half of the waiting clients have it. */
export const longPoll: Figure = {
  name: 'long-poll',
  unit: 'ms',
  peer: `the limit for the median of ${CLIENTS} clients waiting in one room`,
  wanted: { most: 1 },
  async measure(workspace) {
    const account = await makeAccount(workspace)
    const people = await addPeople(account.dataDir, ACCOUNTS)
    return withService(workspace, account, ({ url }) =>
      withConnections(url, 1, ([writer]) =>
        withConnections(url, CLIENTS, async (waiting) => {
          const ids = people.map(({ id }) => id)
          const room_id = await openRoom(url, account.token, writer!, ids)
          const poll = (token: string, after: string, wait: number) =>
            requestTo(url, { path: pathOf('poll', `&room_id=${room_id}&after=${after}&wait=${wait}`), token })
          let { timestamp } = await answerOf(writer!, poll(account.token, '2026-01-01T00:00:00.000Z', 0))

          const delivery = async (round: number): Promise<number> => {
            const content = `Message ${round}`
            const hear = async (connection: Connection, token: string) => {
              const { body } = await connection.ask(poll(token, String(timestamp), 55))
              return { at: performance.now(), text: Buffer.concat(body).toString() }
            }
            const heard = Promise.all(
              waiting.map((connection, client) => hear(connection, people[client % ACCOUNTS]!.token)),
            )
            await pause(SETTLE_MS)
            const body = Buffer.from(JSON.stringify({ room_id, content }))
            const sent = {
              method: 'POST',
              path: pathOf('send'),
              token: account.token,
              type: 'application/json',
            } as const
            const message = requestTo(url, { ...sent, body })
            const start = performance.now()
            await writer!.ask(message)
            const answers = await heard
            if (!answers.every(({ text }) => text.includes(`"content":"${content}"`)))
              throw new Error('A client was answered without the message.')
            timestamp = (JSON.parse(answers[0]!.text) as { timestamp: string }).timestamp
            return median(answers.map(({ at }) => at - start))
          }

          await delivery(0)
          const ours: number[] = []
          for (const round of numbers(ROUNDS)) ours.push(await delivery(round + 1))
          return { ours, peer: ours.map(() => MOST_MS) }
        }),
      ),
    )
  },
}
