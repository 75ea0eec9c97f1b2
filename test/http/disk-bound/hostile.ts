import { desktopComponents } from '../../../src/contract/desktop-components.ts'
import { filesystem } from '../../../src/contract/filesystem.ts'
import { syncAuth } from '../../../src/contract/sync-auth.ts'
import { syncData } from '../../../src/contract/sync-data.ts'
import { syncFiles } from '../../../src/contract/sync-files.ts'
import { teamChat } from '../../../src/contract/team-chat.ts'
import { trash } from '../../../src/contract/trash.ts'
import { versions } from '../../../src/contract/versions.ts'
import type { Account } from '../../support/account.ts'
import { bytesOf, chunked, sha256Of } from '../../support/contents.ts'
import type { Random } from '../../support/random.ts'
import { openRaw, rawHead } from '../../support/raw.ts'
import { tarOf } from '../../support/tar.ts'

const KB = 1_024

/** Something an account does, as text for whoever reads of a failure. */
export interface Act {
  text: string
  run(): Promise<{ status: number }>
}

interface Hostile {
  url: string
  /** Several devices of the same account. */
  devices: readonly Account[]
  random: Random
  /** Bytes. */
  quota: number
}

const DONE = { status: 200 }

/** An account that tries to make the disk hold as much as can be. Every act is decided when it is made. */
export async function makeHostile({ url, devices, random, quota }: Hostile) {
  const { below, of } = random
  const { room } = await devices[0]!.ask(teamChat.actions.create_room, { name: 'h', type: 'channel', participants: [] })
  const messages: number[] = []
  const rows: number[] = []
  const folders = ['', '/a', '/a/b', `/${'ä'.repeat(100)}`]
  const path = () => `${of(folders)}/${of(['one', 'two', 'three', 'n'.repeat(250)])}.bin`
  // Some contents come again and again, so that they are removed and stored at the same moment.
  const again = [1, 2, 3].map((seed) => bytesOf(quota / 8, seed))
  const content = () => {
    if (below(5) === 0) return of(again)
    const most = of([KB, 60 * KB, quota / 4, quota / 2, quota / 2, quota])
    return bytesOf(1 + below(most), below(2 ** 31))
  }
  const word = (most: number) => 'w'.repeat(1 + below(most))

  /** What concerns files. */
  const filing: ((device: Account) => Act)[] = [
    (device) => {
      const [to, bytes] = [path(), content()]
      const query = { mtime: below(1_000_000) }
      return { text: `upload ${bytes.length} to ${to}`, run: () => device.upload(to, bytes, query) }
    },
    (device) => {
      const [to, bytes, piece] = [path(), content(), 1 + below(50 * KB)]
      return { text: `upload ${bytes.length} in chunks to ${to}`, run: () => device.upload(to, chunked(bytes, piece)) }
    },
    (device) => {
      const [to, bytes] = [path(), content()]
      const headers = of<Record<string, string>>([
        { 'if-match': `"${sha256Of('')}"` },
        { 'if-none-match': '*' },
        { 'x-file-sha256': sha256Of('') },
      ])
      const text = `upload ${bytes.length} to ${to} with ${Object.keys(headers).join()}`
      return { text, run: () => device.upload(to, bytes, {}, headers) }
    },
    (device) => {
      const [to, bytes] = [path(), content()]
      const sent = below(bytes.length)
      const run = async () => {
        const raw = await openRaw(url)
        const headers = { authorization: `Bearer ${device.token}`, 'content-length': bytes.length }
        raw.write(rawHead('POST', `${syncFiles.path}?action=upload&path=${encodeURIComponent(to)}`, headers))
        raw.write(bytes.subarray(0, sent))
        await new Promise((resolve) => setImmediate(resolve))
        raw.hangUp()
        return DONE
      }
      return { text: `hang up after ${sent} of ${bytes.length} to ${to}`, run }
    },
    (device) => {
      const entries = Array.from({ length: 1 + below(12) }, () => {
        const keys =
          below(5) === 0 ? { 'SVC.if_sha256': 'absent' } : below(5) === 0 ? { 'SVC.sha256': sha256Of('') } : {}
        return { name: path(), content: content(), keys }
      })
      const sent = { headers: { 'content-type': 'application/x-tar' }, body: new Uint8Array(tarOf(...entries)) }
      const text = `upload ${entries.map((entry) => entry.content.length).join(' + ')} as a batch`
      return { text, run: () => device.call(syncFiles.actions.upload_batch, {}, sent) }
    },
    (device) => {
      const operations = Array.from({ length: 1 + below(30) }, () =>
        of([
          { op: 'mkdir', path: `${of(folders)}/${'d'.repeat(200)}${below(40)}` },
          { op: 'delete', path: of([...folders.slice(1), path()]) },
          { op: 'move', from: path(), to: path() },
        ]),
      )
      const run = () => device.call(syncFiles.actions.files_batch, { operations })
      return { text: `a batch of ${operations.map(({ op }) => op).join()}`, run }
    },
    (device) => {
      const [from, to] = [of([...folders.slice(1), path()]), `${of(folders)}/copy${below(5)}`]
      return { text: `copy ${from} to ${to}`, run: () => device.call(filesystem.actions.copy, { from, to }) }
    },
    (device) => {
      const forGood = below(3) === 0
      const run = async () => {
        const { files } = await device.manifest()
        const operations = files.map((file) => ({ op: 'delete', path: file.path }))
        const reply = await device.call(syncFiles.actions.files_batch, { operations })
        return forGood ? device.call(trash.actions.empty, {}) : reply
      }
      return { text: `delete every file${forGood ? ', and empty the trash' : ''}`, run }
    },
    (device) => {
      const what = of([...folders.slice(1), path(), path()])
      return { text: `delete ${what}`, run: () => device.call(syncFiles.actions.delete, { path: what }) }
    },
    (device) => {
      const [choice, at] = [of(['restore', 'restore', 'delete', 'empty'] as const), below(100)]
      const run = async () => {
        if (choice === 'empty') return device.call(trash.actions.empty, {})
        const { items } = await device.ask(trash.actions.list, {})
        const entry = items[at % items.length]
        return entry ? device.call(trash.actions[choice], { id: entry.id }) : DONE
      }
      return { text: `trash: ${choice}`, run }
    },
    (device) => {
      const [of_, at] = [path(), below(100)]
      const run = async () => {
        const { json, status } = await device.call(versions.actions.list, { path: of_ })
        if (status !== 200) return { status }
        const all = json['versions'] as { version_id: number }[]
        return device.call(versions.actions.restore, { path: of_, version_id: all[at % all.length]!.version_id })
      }
      return { text: `restore a version of ${of_}`, run }
    },
    () => {
      const name = `/r${below(100)}.bin`
      const bytes = [1, 2].map(() => bytesOf(quota / 5, below(2 ** 31)))
      // Both are received before either is judged for good.
      const run = async () => {
        const upload = (device: Account, one: Buffer) => device.upload(name, one, {}, { 'if-none-match': '*' })
        const all = await Promise.all(bytes.map((one, index) => upload(devices[index % devices.length]!, one)))
        return all[0]!
      }
      return { text: `two uploads race for ${name}`, run }
    },
  ]
  /** What concerns everything else. */
  const others: typeof filing = [
    (device) => {
      const operations = Array.from({ length: 20 }, () => ({
        table: 'svc_notes',
        operation: 'INSERT',
        data: { title: 't', content: word(8 * KB) },
        op_id: `00000000-0000-4000-8000-${String(below(1e12)).padStart(12, '0')}`,
      }))
      const run = async () => {
        const reply = await device.call(syncData.actions.push, { operations })
        for (const { id } of (reply.json['results'] ?? []) as { id?: number }[]) if (id) rows.push(id)
        return reply
      }
      return { text: 'push 20 notes', run }
    },
    (device) => {
      const count = below(30)
      const run = () => {
        const operations = rows
          .splice(0, count)
          .map((id) => ({ table: 'svc_notes', operation: 'DELETE', data: { id } }))
        return operations.length > 0 ? device.call(syncData.actions.push, { operations }) : Promise.resolve(DONE)
      }
      return { text: `delete ${count} notes`, run }
    },
    (device) => {
      const text = word(12 * KB)
      const run = async () => {
        const reply = await device.call(teamChat.actions.send, { room_id: room.room_id, content: text })
        if (reply.status === 200) messages.push((reply.json['message'] as { message_id: number }).message_id)
        return reply
      }
      return { text: `say ${text.length}`, run }
    },
    (device) => {
      const [choice, at, emoji] = [below(3), below(100), of(['👍', 'e'.repeat(32), '🦀'])]
      const run = () => {
        const message_id = messages[at % messages.length]
        if (message_id === undefined) return Promise.resolve(DONE)
        if (choice === 0) return device.call(teamChat.actions.delete, { message_id })
        if (choice === 1) return device.call(teamChat.actions.edit, { message_id, content: word(12 * KB) })
        return device.call(teamChat.actions.react, { message_id, emoji })
      }
      return { text: 'change a message', run }
    },
    (device) => {
      const code = '/'.repeat(1 + below(50 * KB))
      const save = { component_id: `c${below(5)}`, component_type: 'css', code }
      const name = `p${below(9)}`
      return below(3) === 0
        ? { text: 'save a profile', run: () => device.call(desktopComponents.actions.save_profile, { name }) }
        : { text: `save a component of ${code.length}`, run: () => device.call(desktopComponents.actions.save, save) }
    },
    (device) => {
      const named = { username: word(200), password: word(100), device_name: word(100), device_id: word(100) }
      return { text: 'fail to sign in', run: () => device.call(syncAuth.actions.login, named) }
    },
  ]

  return {
    /** What comes next. */
    next: (): Act => of(below(4) === 0 ? others : filing)(of(devices)),
  }
}
