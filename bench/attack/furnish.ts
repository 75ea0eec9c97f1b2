import { tables, type SyncedTable } from '../../src/contract/tables.ts'
import type { Attacker } from './target.ts'

/** The password of all accounts, from the examples of the description. */
export const PASSWORD = 'analytical engine'

/** A regular client. */
interface Speaker {
  /** Sends a request; POST if there are fields. Throws on errors. */
  ask(target: string, fields?: object): Promise<Record<string, unknown>>
  /** Uploads a text. */
  put(path: string, content: string): Promise<void>
}

/** A client with a device token. */
export function speaker(url: string, { token }: Attacker): Speaker {
  const authorization = `Bearer ${token}`
  async function send(target: string, init: RequestInit): Promise<Record<string, unknown>> {
    const answer = await fetch(`${url}${target}`, init)
    const text = await answer.text()
    if (!answer.ok) throw new Error(`${target} answered ${answer.status}: ${text}`)
    return JSON.parse(text) as Record<string, unknown>
  }
  return {
    ask: (target, fields) =>
      send(target, {
        headers: { authorization, ...(fields ? { 'content-type': 'application/json' } : {}) },
        ...(fields ? { method: 'POST', body: JSON.stringify(fields) } : {}),
      }),
    async put(path, content) {
      const target = `/api/sync/files.php?action=upload&path=${encodeURIComponent(path)}`
      await send(target, { method: 'POST', headers: { authorization }, body: content })
    },
  }
}

/** A row of a table with a text in every text column. */
export function rowOf(table: SyncedTable, text: string): Record<string, unknown> {
  const samples: Record<string, unknown> = {
    integer: 5,
    real: 5.5,
    boolean: true,
    date: '2026-01-01',
    timestamp: '2026-01-01T00:00:00.000Z',
    json: [text],
  }
  return Object.fromEntries(
    Object.entries(table.columns).map(([name, { type, values, pattern, max = Infinity }]) => {
      if (values) return [name, values[0]]
      if (pattern) return [name, 'EUR']
      return [name, type === 'text' ? text.slice(0, max) : samples[type]]
    }),
  )
}

/** Creates one of everything in a new account. */
async function furnish({ ask, put }: Speaker, text: (what: string) => string) {
  const operations = Object.entries(tables).map(([table, declared]) => ({
    table,
    operation: 'INSERT',
    data: rowOf(declared, text(table)),
  }))
  const { results } = (await ask('/api/sync/data.php?action=push', { operations })) as { results: { id: number }[] }
  await put('/hello.txt', text('version'))
  await put('/hello.txt', text('file'))
  await put('/old.txt', text('old'))
  await put(`/folder ${text('folder')}/${text('name')}.txt`, text('inner'))
  await put('/gone.txt', text('trashed'))
  await ask('/api/filesystem.php?action=trash', { path: '/gone.txt' })
  const { items } = (await ask('/api/trash.php?action=list')) as { items: { id: number }[] }
  const { versions } = (await ask('/api/versions.php?action=list&path=/hello.txt')) as {
    versions: { version_id: number }[]
  }
  const component = { component_id: 'clock', component_type: 'css', metadata: { note: text('metadata') } }
  const { save, save_profile } = {
    save: '/api/desktop-components.php?action=save',
    save_profile: '/api/desktop-components.php?action=save_profile',
  }
  await ask(save, { ...component, code: `/* ${text('code')} */` })
  const { profile_id } = await ask(save_profile, { name: `Evening ${text('profile')}` })
  return {
    row: results[0]!.id,
    rows: results.map(({ id }) => id),
    trash: items[0]!.id,
    version_id: versions.at(-1)!.version_id,
    profile_id: profile_id as number,
  }
}

interface Room {
  room: { room_id: number }
}

async function openRoom({ ask }: Speaker, name: string, content: string): Promise<{ room: number; message: number }> {
  const { room } = (await ask('/api/team-chat.php?action=create_room', {
    name,
    type: 'channel',
    participants: [],
  })) as unknown as Room
  const sent = await ask('/api/team-chat.php?action=send', { room_id: room.room_id, content })
  const { message } = sent as { message: { message_id: number } }
  return { room: room.room_id, message: message.message_id }
}

/** Stores secrets of every kind, and creates a room shared with everyone, which contains none. */
export async function plantSecrets(to: Speaker, canary: string) {
  const text = (what: string) => `${canary}-${what}`
  const things = await furnish(to, text)
  await to.put('/secret.txt', text('secret'))
  const closed = await openRoom(to, 'Private', text('message'))
  const named = await openRoom(to, `Room ${text('room')}`, text('message-2'))
  const { ask } = to
  await ask('/api/filesystem.php?action=write', { path: '/Teamchat/Private/room.txt', content: text('room-file') })
  const app = { name: `App ${text('app')}`, slug: 'private-app', description: text('description') }
  const { id } = await ask('/api/apps.php?action=create_custom', app)
  const open = await openRoom(to, 'Everybody', 'Good morning')
  const { profile_id, trash, version_id, rows } = things
  return {
    ids: [
      open.room,
      open.message,
      closed.room,
      closed.message,
      named.room,
      named.message,
      profile_id,
      trash,
      version_id,
      ...rows,
      id as number,
    ],
    room: closed.room,
    shared: open.room,
  }
}

let slugs = 0

/** Prepares an attacker's account; returns ids of its content by parameter name. */
export async function settle(by: Speaker, { id }: Attacker): Promise<Record<string, unknown>> {
  const things = await furnish(by, (what) => `own ${what}`)
  const { room, message } = await openRoom(by, 'Own', 'Good morning')
  const slug = `own-${++slugs}`
  const app = await by.ask('/api/apps.php?action=create_custom', { name: 'Own', slug })
  return {
    password: PASSWORD,
    current_password: PASSWORD,
    room_id: room,
    message_id: message,
    // Nothing is newer: with `wait`, the response is delayed.
    after: '2100-01-01T00:00:00.000Z',
    user_id: id,
    user_ids: [id],
    participants: [],
    profile_id: things.profile_id,
    version_id: things.version_id,
    trash: things.trash,
    app: app['id'],
    row: things.row,
    slug: `${slug}-b`,
  }
}
