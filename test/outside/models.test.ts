import { setImmediate as nextTurn } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, onTestFinished, test, vi } from 'vitest'
import type { Sleep } from '../../src/base/sleep.ts'
import { ModelError } from '../../src/base/language-model.ts'
import { makeModels } from '../../src/outside/models.ts'
import { modelServerOfTest, type Scripted } from '../support/model-server.ts'

const inSeconds = (seconds: number): string => new Date(Date.now() + seconds * 1_000).toUTCString()
const refusal = (status: number, after?: string): Scripted => ({
  status,
  ...(after !== undefined && { headers: { 'retry-after': after } }),
})

/** Asks a model that answers as it is told; what it said, or why not, and how long was waited between. */
async function asked(...replies: Scripted[]) {
  const server = await modelServerOfTest()
  server.will(...replies)
  const slept: number[] = []
  const models = makeModels({ sleep: (ms) => Promise.resolve(void slept.push(ms)) })
  const outcomes = []
  for (const url of [server.url, server.anthropic]) {
    if (url === server.anthropic) server.will(...replies)
    const said: string[] = []
    const request = { server: { url, key: '' }, model: 'talker', messages: [{ role: 'user', text: 'Hello' }] as const }
    const outcome = await models
      .ask({
        ...request,
        functions: [],
        mayCall: false,
        signal: new AbortController().signal,
        onText: (piece) => void said.push(piece),
      })
      .catch((error: unknown) => (error instanceof ModelError ? error : Promise.reject(error as Error)))
    const isModelError = outcome instanceof ModelError
    outcomes.push({
      said: said.join(''),
      ...(isModelError ? { error: outcome.kind, retryAfter: outcome.retryAfter } : { text: outcome.text }),
      slept: slept.splice(0),
      questions: server.heard.splice(0).length,
    })
  }
  expect(outcomes[1]).toEqual(outcomes[0])
  return outcomes[0]
}

test('a model that takes no request for the moment is asked again after the time it names', async () => {
  expect(await asked(refusal(429, '3'), refusal(503), { text: 'Well.' })).toEqual({
    said: 'Well.',
    text: 'Well.',
    slept: [3_000, 2_000],
    questions: 3,
  })
  expect(await asked(refusal(529, '0'), refusal(429, 'soon'), refusal(429, inSeconds(-60)), { text: 'A' })).toEqual({
    said: 'A',
    text: 'A',
    slept: [500, 2_000, 5_000],
    questions: 4,
  })
})

const DAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday']

/** A moment in the three forms of RFC 9110, 5.6.7. */
const dateForms = {
  'IMF-fixdate': (imf: string) => imf,
  'RFC 850': (imf: string) =>
    imf.replace(/^\w+, (\d\d) (\w+) \d\d(\d\d)/, `${DAYS[new Date(imf).getUTCDay()]}, $1-$2-$3`),
  asctime: (imf: string) =>
    imf.replace(/^(\w+), (\d\d) (\w+) (\d{4}) (\S+) GMT$/, (_, ...[day, date, month, year, time]: string[]) =>
      [day, month, date!.replace(/^0/, ' '), time, year].join(' '),
    ),
}

test.each(Object.entries(dateForms))('a time may be named as a date: %s', async (_, form) => {
  // A zone that is not UTC, because a date without one is in UTC and not in that of this machine.
  vi.stubEnv('TZ', 'America/New_York')
  onTestFinished(() => void vi.unstubAllEnvs())
  const server = await modelServerOfTest()
  server.will(refusal(503, form(inSeconds(9))), { text: 'Well.' })
  const slept: number[] = []
  await makeModels({ sleep: (ms) => Promise.resolve(void slept.push(ms)) }).ask({
    server: { url: server.url, key: '' },
    model: 'talker',
    messages: [{ role: 'user', text: 'Hello' }],
    functions: [],
    mayCall: false,
    signal: new AbortController().signal,
    onText: () => undefined,
  })
  expect(slept).toHaveLength(1)
  // More than the pause without it; the date has whole seconds, and time goes by.
  expect(slept[0]).toBeGreaterThan(4_000)
  expect(slept[0]).toBeLessThanOrEqual(9_000)
})

test('it is given up after some tries, or at once where it would take too long', async () => {
  const nothing = { said: '', retryAfter: undefined }
  expect(await asked(...Array.from({ length: 4 }, () => refusal(429)))).toEqual({
    ...nothing,
    error: 'limited',
    slept: [500, 2_000, 5_000],
    questions: 4,
  })
  expect(await asked(refusal(503, '16'), refusal(503, '15'))).toEqual({
    ...nothing,
    error: 'busy',
    retryAfter: 15,
    slept: [16_000],
    questions: 2,
  })
  expect(await asked(refusal(429, '99999999999'))).toEqual({
    ...nothing,
    error: 'limited',
    retryAfter: 3_600,
    slept: [],
    questions: 1,
  })
})

test.each([
  ['an error', { status: 500 }, 'unreachable', ''],
  ['a key that is not accepted', { status: 401, headers: { 'retry-after': '1' } }, 'refused', ''],
  ['an answer that breaks off', { text: 'Well', cut: true }, 'broken', 'Well'],
])('%s is told at once', async (_, scripted, error, said) => {
  expect(await asked(scripted)).toMatchObject({ error, said, slept: [], questions: 1 })
})

test('whoever goes away ends the wait', async () => {
  const server = await modelServerOfTest()
  const leaving = new AbortController()
  server.will(() => {
    setImmediate(() => leaving.abort(new Error('gone')))
    return refusal(429, '25')
  })
  // The wait would not end by itself.
  const forever: Sleep = (_ms, signal) =>
    new Promise<void>((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason as Error)))
  const answer = makeModels({ sleep: forever }).ask({
    server: { url: server.url, key: '' },
    model: 'talker',
    messages: [{ role: 'user', text: 'Hello' }],
    functions: [],
    mayCall: false,
    signal: leaving.signal,
    onText: () => undefined,
  })
  await expect(answer).rejects.toThrow('gone')
  expect(server.heard).toHaveLength(1)
})

test('a model that falls silent is left when the signal aborts, also after a garbage collection', async () => {
  const server = await modelServerOfTest()
  server.will({ text: 'Well', hang: true })
  const end = new AbortController()
  let begin = () => {}
  const begun = new Promise<void>((resolve) => (begin = resolve))
  const asked = makeModels().ask({
    server: { url: server.url, key: '' },
    model: 'talker',
    messages: [{ role: 'user', text: 'Hello' }],
    functions: [],
    mayCall: false,
    signal: AbortSignal.any([end.signal]),
    onText: begin,
  })
  await begun
  setFlagsFromString('--expose-gc')
  const collectGarbage = runInNewContext('gc') as () => void
  for (let round = 0; round < 5; round += 1) {
    await nextTurn()
    collectGarbage()
  }
  end.abort(new Error('Enough.'))
  await expect(asked).rejects.toThrow('Enough.')
  await expect.poll(() => server.left()).toBe(1)
})
