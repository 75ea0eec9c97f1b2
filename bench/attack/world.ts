import { readFileSync } from 'node:fs'
import { randomHex } from '../../src/base/random.ts'
import { openEngine } from '../../src/host/sqlite-engine.ts'
import { openSqlite } from '../../src/storage/engine/sqlite.ts'
import { openLocal } from '../../src/wiring/local-domain.ts'
import { enlist, signIn } from '../people.ts'
import { startService } from '../server.ts'
import type { Workspace } from '../workspace.ts'
import { PASSWORD, plantSecrets, settle, speaker } from './furnish.ts'
import type { Description } from './operations.ts'
import type { Attacker, Target } from './target.ts'
import { watcher } from './watch.ts'

/** A target that must be closed. */
export interface World extends Target {
  close(): Promise<void>
}

/** Starts the built server on a new data directory, with an administrator and a user with secrets. */
export async function openWorld(workspace: Workspace): Promise<World> {
  const dataDir = workspace.folder('attacked')
  const local = await openLocal({ dataDir, env: {} })
  const database = openSqlite(local.directory.database)
  const { accounts } = local.domain
  await accounts.create({ username: 'grace', password: PASSWORD, role: 'admin' })
  const watched = openEngine(local.directory.database, 5_000)
  const passwordHash = watched.prepare('select password_hash from users').pluck().get() as string

  let people = 0
  /** A new user, signed in twice: an attack may end its other device or session. */
  async function arrive(role: 'user' | 'admin', label = 'Own'): Promise<Attacker> {
    const username = `person-${++people}`
    return database.write('instance', async (tx) => {
      const person = await enlist(tx, local, { username, role, passwordHash, label })
      const { token_id } = await signIn(tx, local.domain, person.id, label)
      return { ...person, csrf: accounts.sessions.csrfToken(person.cookie), own: { token_id, username } }
    })
  }

  const server = await startService(workspace, dataDir)
  const canary = `canary-${randomHex(8)}`
  const other = await arrive('user', `Laptop ${canary}`)
  const others = await plantSecrets(speaker(server.url, other), canary)
  const state = watcher(watched, other.id, others.room)
  const credentials = [other.token, other.cookie]

  return {
    url: server.url,
    description: (await (await fetch(`${server.url}/api/openapi.json`)).json()) as Description,
    foreign: [...new Set([other.id, ...others.ids])].sort((a, b) => a - b),
    canary,
    places: [dataDir, process.cwd()],
    async newcomer(role) {
      const attacker = await arrive(role)
      credentials.push(attacker.token, attacker.cookie)
      await speaker(server.url, other).ask('/api/team-chat.php?action=invite', {
        room_id: others.shared,
        user_ids: [attacker.id],
      })
      const [spare] = await accounts.sessions.list(attacker.id)
      const things = await settle(speaker(server.url, attacker), attacker)
      return { ...attacker, own: { ...attacker.own, session_id: spare!.session_id, ...things } }
    },
    commits: () => watched.pragma('data_version', { simple: true }) as number,
    state,
    logged: () => readLog(server.log, [canary, ...credentials]),
    async close() {
      await server.stop()
      watched.close()
      await database.close()
      await local.close()
    },
  }
}

/** Problems in a log; undefined if there are none. */
function readLog(file: string, secrets: readonly string[]): string | undefined {
  for (const line of readFileSync(file, 'utf8').split('\n')) {
    const secret = secrets.find((text) => line.includes(text))
    if (secret !== undefined) return `The log holds a credential or a content: ${line}`
    if (/"level":(50|60)/.test(line)) return line
  }
  return undefined
}
