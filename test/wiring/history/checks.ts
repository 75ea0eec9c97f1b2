import { expect } from 'vitest'
import type { Client } from '../../support/account.ts'
import { sha256Of } from '../../support/contents.ts'
import { LIST, type Asked, type Shown } from './recorded.ts'

type Rows = readonly Record<string, unknown>[]

/** What was acknowledged is there once; what was not answered, at most once; nothing else is. */
function assertKept(what: string, asked: Asked['notes'], found: readonly string[]): void {
  expect(new Set(found).size, `${what}: nothing was carried out twice`).toBe(found.length)
  expect(
    found.filter((one) => !asked.has(one)),
    `${what}: nothing that nobody asked for`,
  ).toEqual([])
  const acknowledged = [...asked].flatMap(([one, state]) => (state === 'acknowledged' ? [one] : []))
  const lost = acknowledged.filter((one) => !found.includes(one))
  expect(lost, `${what}: nothing acknowledged was lost`).toEqual([])
}

async function assertFiles(client: Client, { files }: Asked): Promise<void> {
  const found = new Map((await client.manifest()).files.map(({ path, sha256 }) => [path, sha256]))
  for (const [path, { acknowledged, asked }] of files) {
    const sha256 = found.get(path)
    expect(
      sha256 === acknowledged || (sha256 !== undefined && asked.has(sha256)),
      `${path} holds what was uploaded last: ${String(sha256)}`,
    ).toBe(true)
    if (sha256 !== undefined) expect(sha256Of((await client.download(path)).bytes)).toBe(sha256)
  }
}

/** Compares the account with what was asked for and what its devices were shown. */
export async function assertAccount(client: Client, asked: Asked, shown: readonly Shown[]): Promise<void> {
  const { data } = await client.everything()
  const notes = data['svc_notes'] as Rows
  const titles = notes.map(({ title }) => String(title)).filter((title) => title !== LIST)
  assertKept('notes', asked.notes, titles)
  const list = notes.find(({ title }) => title === LIST)!
  assertKept('items', asked.items, String(list['content']).split(' ').filter(Boolean))
  await assertFiles(client, asked)
  for (const { rows, anomalies, appeared } of shown) {
    expect(anomalies).toEqual([])
    for (const table of ['svc_notes', 'svc_messages', 'svc_files'])
      expect(
        [...rows]
          .flatMap(([key, row]) => (key.startsWith(`${table} `) ? [row] : []))
          .sort((a, b) => Number(a['id']) - Number(b['id'])),
        `a device holds every row of ${table} as it is`,
      ).toEqual(data[table] ?? [])
    expect(appeared, 'all devices of an account see one order').toEqual(shown[0]!.appeared)
  }
}

const messagesOf = ({ appeared }: Shown): string[] => appeared.filter((key) => key.startsWith('svc_messages '))

/** Compares the room with what its members said and what their devices were shown. */
export function assertRoom(members: readonly { asked: Asked; shown: readonly Shown[] }[]): void {
  const [first] = members[0]!.shown
  const asked = new Map(members.flatMap((member) => [...member.asked.messages]))
  const said = messagesOf(first!).map((key) => String(first!.rows.get(key)!['content']))
  assertKept('messages', asked, said)
  for (const { shown } of members)
    expect(messagesOf(shown[0]!), 'all members see the messages in one order').toEqual(messagesOf(first!))
}
