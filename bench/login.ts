import { verify } from '@node-rs/argon2'
import { generateSync } from 'otplib'
import { enableSecondFactor, secondFactorOf } from '../src/storage/accounts/second-factors.ts'
import { openSqlite } from '../src/storage/engine/sqlite.ts'
import { openLocal } from '../src/wiring/local-domain.ts'
import { ADA, makeAccount, withDatabase, withService, type Account } from './account.ts'
import { answerOf } from './chat.ts'
import { requestTo, withConnections, type Connection } from './connection.ts'
import type { Figure } from './figure.ts'
import { addPeople, type Person } from './people.ts'
import { duration, interleave } from './rounds.ts'
import { numbers } from './samples.ts'

const LOGINS = 16

const DEVICE = { device_id: 'bench-0002', device_name: 'Benchmark' }

async function post(url: string, connection: Connection, action: string, fields: object) {
  const body = Buffer.from(JSON.stringify(fields))
  const path = `/api/sync/auth.php?action=${action}`
  return answerOf(connection, requestTo(url, { method: 'POST', path, type: 'application/json', body }))
}

/** Signs in with a password. */
async function signIn(url: string, connection: Connection, username: string): Promise<Record<string, unknown>> {
  return post(url, connection, 'login', { username, password: ADA.password, ...DEVICE })
}

const hashOf = ({ database, user }: Account): Promise<string> =>
  withDatabase(
    database,
    (handle) => handle.prepare('select password_hash from users where id = ?').pluck().get(user) as string,
  )

/** The peer: as many password verifications as logins in a round, ms each. */
const compareAll = (hash: string) => async () =>
  (await duration(async () => {
    for (const _ of numbers(LOGINS)) if (!(await verify(hash, ADA.password))) throw new Error('The hash is another.')
  })) / LOGINS

/**
 * Only hashing may be slow: more than a quarter on top means waiting for something else. The second step is another
 * request with another durable commit, and may take as much again.
 */
const MOST = { password: 1.25, code: 1.5 } as const

/** Logins with a password, one at a time. */
export const login: Figure = {
  name: 'login',
  unit: 'ms',
  peer: 'the argon2id of its password alone',
  wanted: { most: MOST.password },
  async measure(workspace) {
    const account = await makeAccount(workspace)
    const peer = compareAll(await hashOf(account))
    return withService(workspace, account, ({ url }) =>
      withConnections(url, 1, ([connection]) =>
        interleave({
          ours: async () =>
            (await duration(async () => {
              for (const _ of numbers(LOGINS)) await signIn(url, connection!, ADA.username)
            })) / LOGINS,
          peer,
          rounds: 9,
        }),
      ),
    )
  },
}

interface Guarded extends Person {
  secret: string
}

/** Enables second factors without backup codes, which are slow to hash and not measured. */
async function guard({ dataDir, database: file }: Account, people: Person[]): Promise<Guarded[]> {
  const local = await openLocal({ dataDir, env: {} })
  const database = openSqlite(file)
  try {
    const guarded: Guarded[] = []
    for (const person of people) {
      const { secret } = await local.domain.accounts.twoFactor.setUp(person.id, 'svc')
      await database.write('instance', async (tx) => {
        const { pending_secret } = (await secondFactorOf(tx, person.id))!
        await enableSecondFactor(tx, person.id, pending_secret!, 0, Date.now())
      })
      guarded.push({ ...person, secret })
    }
    return guarded
  } finally {
    await database.close()
    await local.close()
  }
}

/** Logins with a password and a code, one account after another. */
export const login2fa: Figure = {
  name: 'login-2fa',
  unit: 'ms',
  peer: 'the argon2id of its password alone',
  wanted: { most: MOST.code },
  async measure(workspace) {
    const account = await makeAccount(workspace)
    const hash = await hashOf(account)
    const people = await guard(account, await addPeople(account.dataDir, LOGINS, hash))
    return withService(workspace, account, ({ url }) =>
      withConnections(url, 1, ([connection]) =>
        withDatabase(account.database, (database) => {
          // A code can be used once: between the rounds, make the current one valid again.
          const forget = database.prepare('update second_factors set last_step = 0')
          return interleave({
            async ours() {
              forget.run()
              const took = await duration(async () => {
                for (const { username, secret } of people) {
                  const { pending_token } = await signIn(url, connection!, username)
                  const { token } = await post(url, connection!, 'login_2fa', {
                    pending_token,
                    code: generateSync({ secret }),
                  })
                  if (typeof token !== 'string') throw new Error('There is no token after the second factor.')
                }
              })
              return took / LOGINS
            },
            peer: compareAll(hash),
            rounds: 9,
          })
        }),
      ),
    )
  },
}
