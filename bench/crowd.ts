import { makeAccount, withService } from './account.ts'
import { answerOf, openRoom, pathOf } from './chat.ts'
import { requestTo, withConnections, type Connection } from './connection.ts'
import type { Figure } from './figure.ts'
import { addPeople, type Person } from './people.ts'
import { residentMib } from './resident.ts'
import { bytesOf, noteOf, numbers } from './samples.ts'

const ROOMS = 10
const POLLING = 200
const WRITING = 20
const WAIT = 5
const SAMPLE_MS = 100

/** Files per writer; then they are overwritten. */
const FILES = 50

interface Crowd {
  url: string
  /** Requests answered so far. */
  answered: number
  /** End of writing, by `performance.now()`. */
  until: number
  /** Whether the writers have stopped and their last messages are stored. */
  quiet: boolean
}

interface Room {
  id: number
  /** Messages posted so far. */
  posted: number
  /** A time before the first of them. */
  since: string
}

/** Follows a room in a browser session until everything is quiet. Returns the number of received messages. */
async function follow(crowd: Crowd, room: Room, { cookie }: Person, connection: Connection): Promise<number> {
  let told = 0
  let after = room.since
  for (;;) {
    const isLast = crowd.quiet
    const query = `&room_id=${room.id}&after=${after}&wait=${isLast ? 0 : WAIT}`
    const request = requestTo(crowd.url, { path: pathOf('poll', query), cookie })
    const { messages, timestamp } = await answerOf(connection, request)
    crowd.answered++
    told += (messages as unknown[]).length
    if (isLast && (messages as unknown[]).length === 0) return told
    after = String(timestamp)
  }
}

/** Writes messages, rows and files with a device token, one request at a time. */
async function write(crowd: Crowd, room: Room, { token }: Person, connection: Connection): Promise<void> {
  const json = (path: string, fields: object) =>
    requestTo(crowd.url, {
      method: 'POST',
      path,
      token,
      type: 'application/json',
      body: Buffer.from(JSON.stringify(fields)),
    })
  const content = bytesOf(room.id, 8_192)
  for (let number = 0; performance.now() < crowd.until; number++) {
    await connection.ask(json(pathOf('send'), { room_id: room.id, content: `Message ${number}` }))
    room.posted++
    const operations = [{ table: 'svc_notes', operation: 'INSERT', data: noteOf(number) }]
    await connection.ask(json('/api/sync/data.php?action=push', { operations }))
    const path = `/api/sync/files.php?action=upload&path=/files/${number % FILES}.bin`
    const body = content.subarray(number % 1_024)
    await connection.ask(requestTo(crowd.url, { method: 'POST', path, token, body }))
    crowd.answered += 3
  }
}

/** Samples the memory of a process until the result is called. */
function watchMemory(pid: number): () => number[] {
  const samples: number[] = []
  const timer = setInterval(() => samples.push(residentMib(pid, 'VmRSS')), SAMPLE_MS)
  return () => {
    clearInterval(timer)
    return samples
  }
}

const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length

/** The mean of a tenth of the samples, starting at a fraction of them. */
const tenthFrom = (samples: readonly number[], share: number): number => {
  const start = Math.floor(samples.length * share)
  return mean(samples.slice(start, start + Math.ceil(samples.length / 10)))
}

/** Memory of a server under load over time: allocations of a request must be freed. */
export const crowd: Figure = {
  name: 'crowd',
  unit: 'MiB',
  peer: `after a third of the time, with ${POLLING} sessions polling and ${WRITING} clients writing`,
  wanted: { most: 1.2 },
  async measure(workspace) {
    const account = await makeAccount(workspace)
    const people = await addPeople(account.dataDir, POLLING + WRITING)
    return withService(workspace, account, ({ url, pid }) =>
      withConnections(url, people.length, async (connections) => {
        const rooms: Room[] = []
        for (const number of numbers(ROOMS)) {
          const ids = people.filter((_, index) => index % ROOMS === number).map(({ id }) => id)
          const id = await openRoom(url, account.token, connections[0]!, ids)
          rooms.push({ id, posted: 0, since: new Date(0).toISOString() })
        }
        const start = performance.now()
        const crowd: Crowd = { url, answered: 0, until: start + workspace.seconds * 1_000, quiet: false }
        const endWatch = watchMemory(pid)
        const each = <T>(from: number, to: number, work: (room: Room, index: number) => Promise<T>) =>
          Promise.all(numbers(to - from).map((index) => work(rooms[(from + index) % ROOMS]!, from + index)))
        const writing = each(POLLING, people.length, (room, index) =>
          write(crowd, room, people[index]!, connections[index]!),
        ).finally(() => (crowd.quiet = true))
        const following = each(0, POLLING, async (room, index) => ({
          room,
          told: await follow(crowd, room, people[index]!, connections[index]!),
        }))
        const [followers] = await Promise.all([following, writing])
        const samples = endWatch()
        for (const { room, told } of followers)
          if (told !== room.posted) throw new Error(`A session was told ${told} of ${room.posted} messages.`)
        const seconds = (performance.now() - start) / 1_000
        const posted = rooms.reduce((sum, room) => sum + room.posted, 0)
        const note = `${Math.round(crowd.answered / seconds)} requests/s, ${posted} messages, each told to ${POLLING / ROOMS} sessions, no error`
        return { ours: [tenthFrom(samples, 0.9)], peer: [tenthFrom(samples, 1 / 3)], note }
      }),
    )
  },
}
