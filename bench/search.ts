import { statSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { makeAccount, withService } from './account.ts'
import type { Figure } from './figure.ts'
import { numbers, wordOf } from './samples.ts'
import { TIME } from './seeds.ts'

const DOCUMENTS = 100_000
const WORDS = 160
const QUERIES = 200
const LIMIT_MS = 50

/** Words as in a language: few are frequent, most are rare. */
const wordAt = (seed: number): string => wordOf(Math.floor(Math.exp(Math.abs(Math.sin(seed) * 10.8))))

interface Answer {
  results: unknown[]
  complete: boolean
}

/** The 95th percentile of searches of one account with 100,000 documents. */
export const search: Figure = {
  name: 'search',
  unit: 'ms',
  peer: `a limit of ${LIMIT_MS} ms`,
  wanted: { most: 1 },
  async measure(workspace) {
    let bytes = 0
    const account = await makeAccount(workspace, (database, user) => {
      const insert = database.prepare(
        'insert into svc_docs (user_id, version, created_at, updated_at, title, content) values (?, 1, ?, ?, ?, ?)',
      )
      const time = new Date(TIME).toISOString()
      database.transaction(() => {
        for (const number of numbers(DOCUMENTS)) {
          const words = numbers(WORDS).map((at) => wordAt(number * WORDS + at))
          const content = words.join(' ')
          bytes += content.length
          insert.run(user, time, time, words.slice(0, 3).join(' '), content)
        }
      })()
    })
    return withService(workspace, account, async ({ url }) => {
      const find = async (query: string): Promise<Answer> => {
        const answer = await fetch(`${url}/api/search.php?action=find`, {
          method: 'POST',
          headers: { authorization: `Bearer ${account.token}`, 'content-type': 'application/json' },
          body: JSON.stringify({ query }),
        })
        if (answer.status !== 200) throw new Error(`The search answered ${answer.status}.`)
        return (await answer.json()) as Answer
      }
      const began = performance.now()
      while (!(await find('any')).complete) await sleep(200)
      const built = (performance.now() - began) / 1_000
      const size = statSync(join(account.dataDir, 'search.db')).size
      const ours: number[] = []
      for (const round of numbers(5)) {
        const times: number[] = []
        for (const at of numbers(QUERIES)) {
          const seed = round * QUERIES + at
          const query = [wordAt(seed).slice(0, 2 + (at % 4)), ...(at % 2 ? [wordAt(seed + 0.5)] : [])].join(' ')
          const start = performance.now()
          await find(query)
          times.push(performance.now() - start)
        }
        ours.push(times.toSorted((a, b) => a - b)[Math.floor(QUERIES * 0.95)]!)
      }
      const note = `index of ${(size / bytes).toFixed(2)} times the text, built in ${built.toFixed(0)} s`
      return { ours, peer: ours.map(() => LIMIT_MS), note }
    })
  },
}
