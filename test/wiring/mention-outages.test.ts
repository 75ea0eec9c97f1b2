import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { DAY, MINUTE } from '../../src/base/clock.ts'
import { Busy } from '../../src/base/errors.ts'
import { openPostgres } from '../../src/storage/engine/postgres.ts'
import { serve } from '../../src/wiring/server.ts'
import { clientOf, makeAccount, type Account } from '../support/account.ts'
import { channelOf, heard, pollOf, say } from '../support/chat.ts'
import { makeClock } from '../support/clock.ts'
import { modelServerOfTest } from '../support/model-server.ts'
import { freshName, programs, startPostgres, type Cluster } from '../support/postgres.ts'
import { folderOfTest } from '../support/server.ts'
import { startServerProcess } from '../support/server-process.ts'

/** How often a server looks for mentions that nobody answers, ms. */
const LOOKING = 20

describe.skipIf(programs === undefined)('a mention in a room', () => {
  let cluster: Cluster
  beforeAll(async () => {
    cluster = await startPostgres()
  })
  afterAll(() => cluster.stop())

  /** Servers that share a database and a model, with a clock of their own, and who asks. */
  async function site() {
    const folder = await folderOfTest()
    const model = await modelServerOfTest()
    const keyFile = join(folder, 'secret')
    await writeFile(keyFile, 'ab'.repeat(32), { mode: 0o600 })
    const url = await cluster.database(freshName())
    const env = {
      SVC_DATABASE: url,
      SVC_SECRET_KEY_FILE: keyFile,
      SVC_LIMITS: 'off',
      SVC_PORT: '0',
      SVC_ASSISTANT_BASE_URL: model.url,
      SVC_ASSISTANT_CHAT_MODEL: 'talker',
    }
    const clock = makeClock(Date.now())
    let servers = 0
    const dataDir = () => join(folder, `server-${++servers}`)
    /** By default it looks only at its start for mentions that nobody answers. */
    const start = async (checkIntervalMs = DAY) => {
      const server = await serve({ dataDir: dataDir(), env, clock, log: false, checkIntervalMs })
      let closing: Promise<void> | undefined
      const close = () => (closing ??= server.close())
      onTestFinished(close)
      return { ...server, close, idle: server.local.domain.assistant.mentions.idle }
    }
    const startProcess = async () => {
      const server = await startServerProcess({ ...env, HOME: folder, SVC_DATA_DIR: dataDir() })
      onTestFinished(() => server.kill())
      return server
    }
    const first = await start()
    const database = await openPostgres(url)
    onTestFinished(() => database.close())
    const ada = await makeAccount({ url: first.url, database, clock }, { role: 'admin' })
    const room = await channelOf(ada)
    return { model, clock, start, startProcess, first, ada, room }
  }

  const at = ({ url }: { url: string }, account: Account): Account => ({ ...account, ...clientOf(url, account.token) })

  const saidIn = async (account: Account, room: number) =>
    (await heard(account, room)).filter(({ is_assistant }) => is_assistant).map(({ content }) => content)

  /** An answer of the model that waits for the returned function. */
  function unfinished(text: string) {
    let finish = () => {}
    const until = new Promise<void>((resolve) => (finish = resolve))
    return { reply: { text, until }, finish: () => finish() }
  }

  test('gets the answer that was finished while the database was away, and the model is asked once', async () => {
    const { model, first, ada, room } = await site()
    const { reply, finish } = unfinished('One.')
    model.will(reply)
    await say(ada, room, '@assistant one')
    await expect.poll(() => model.heard.length).toBe(1)
    await cluster.crash()
    const { failures } = first.local.activity.database()
    finish()
    await expect.poll(() => first.local.activity.database().failures, { timeout: 15_000 }).toBeGreaterThan(failures)
    await cluster.start()
    await first.idle()
    expect(await saidIn(ada, room)).toEqual(['One.'])
    expect(model.heard).toHaveLength(1)
  })

  test('is answered although the database was away when its answer was to begin', async () => {
    const { start, ada, room } = await site()
    const server = await start(LOOKING)
    const replies = server.local.domain.chat.assistantReplies
    const { begin } = replies
    let attempts = 0
    replies.begin = (...args) =>
      ++attempts === 1 ? Promise.reject(new Busy('The database does not answer.')) : begin(...args)
    await say(at(server, ada), room, '@assistant one')
    await expect.poll(() => saidIn(ada, room)).toEqual(['Hello.'])
    expect(attempts).toBe(2)
  })

  test('is answered by another server once the time of one that was killed is over', async () => {
    const { model, clock, start, startProcess, ada, room } = await site()
    const killed = await startProcess()
    model.will({ text: 'One.', hang: true }, { text: 'Two.' })
    const { timestamp } = await say(at(killed, ada), room, '@assistant one')
    await expect.poll(() => model.heard.length).toBe(1)
    await killed.kill()
    expect((await pollOf(ada, room, timestamp)).typing).toMatchObject([{ is_assistant: true }])
    const other = await start(LOOKING)
    await other.idle()
    expect(model.heard).toHaveLength(1)
    clock.pass(3 * MINUTE)
    await expect.poll(() => saidIn(ada, room)).toEqual(['Two.'])
    expect((await pollOf(ada, room, timestamp)).typing).toEqual([])
    expect(model.heard).toHaveLength(2)
  })

  test('is answered once, although a server that hung for longer than its time answers it after all', async () => {
    const { model, clock, start, first, ada, room } = await site()
    const { reply, finish } = unfinished('Late.')
    model.will(reply, { text: 'In time.' })
    await say(ada, room, '@assistant one')
    await expect.poll(() => model.heard.length).toBe(1)
    const other = await start(LOOKING)
    clock.pass(3 * MINUTE)
    await expect.poll(() => saidIn(ada, room)).toEqual(['In time.'])
    finish()
    await Promise.all([first.idle(), other.idle()])
    expect(await saidIn(ada, room)).toEqual(['In time.'])
  })

  test('is left to others by servers that stop, and meanwhile nobody sees the assistant typing', async () => {
    const { model, start, first, ada, room } = await site()
    const other = await start()
    model.will({ text: 'One.', hang: true }, { text: 'Two.', hang: true }, { text: 'Three.' })
    const { timestamp } = await say(ada, room, '@assistant one')
    await expect.poll(() => model.heard.length).toBe(1)
    const during = await pollOf(ada, room, timestamp)
    expect(during.typing).toHaveLength(1)
    const waiting = pollOf(at(other, ada), room, during.timestamp, 55)
    await first.close()
    expect((await waiting).typing).toEqual([])
    const second = await start()
    await expect.poll(() => model.heard.length).toBe(2)
    await second.close()
    const third = await start()
    await third.idle()
    expect(await saidIn(at(third, ada), room)).toEqual(['Three.'])
  })

  test('that no server came to for a quarter of an hour says so', async () => {
    const { model, clock, start, first, ada, room } = await site()
    model.will({ text: 'One.', hang: true })
    await say(ada, room, '@assistant one')
    await expect.poll(() => model.heard.length).toBe(1)
    await first.close()
    clock.pass(16 * MINUTE)
    const next = await start()
    await next.idle()
    expect(await saidIn(at(next, ada), room)).toEqual(['I did not get to answer this; ask me again.'])
    expect(model.heard).toHaveLength(1)
  })
})
