import { join } from 'node:path'
import { expect, test } from 'vitest'
import { makeRandom, type Random } from '../../support/random.ts'
import { serverOfTest } from '../../support/server.ts'
import { clientOf, readTree, type Client } from '../sync/bench.ts'
import { changes, givenUp, prepare } from './changes.ts'
import { mischiefs, startProxy, type Proxy } from './proxy.ts'

// Two real folders and a real server with a hostile network in between. Whatever one side does meets whatever the other side does,
// each pair in a folder of its own, all of them at once.

interface Case {
  folder: string
  one: string
  other: string
}

const names = Object.keys(changes)
const cases: Case[] = names.flatMap((one, row) =>
  names.map((other, column) => ({ folder: `${row}-${column}`, one, other })),
)

const anything = { maxDelete: 'any' } as const

/** Runs, however often it takes, until a run comes to its end. */
async function runThrough(client: Client): Promise<boolean> {
  for (let attempt = 0; attempt < 200; attempt += 1) {
    try {
      const { in_sync, uploaded, downloaded, removed_here, removed_there, moved_here, moved_there, folders } =
        await client.sync(anything)
      const done = uploaded.files + downloaded.files + removed_here + removed_there + moved_here + moved_there + folders
      return in_sync && done === 0
    } catch (error) {
      expect((error as Error).name).toMatch(/^(Unreachable|Fault|Busy)$/)
    }
  }
  throw new Error('No run comes to its end.')
}

async function untilEqual(clients: readonly Client[]): Promise<void> {
  for (let round = 0; round < 30; round += 1) {
    let quiet = true
    for (const client of clients) quiet = (await runThrough(client)) && quiet
    if (quiet) return
  }
  throw new Error('They never come to rest.')
}

type Files = Record<string, string | null>

const caseIn = (tree: Files, folder: string): Files =>
  Object.fromEntries(
    Object.entries(tree).flatMap(([path, content]) =>
      path.startsWith(`/${folder}/`) ? [[path.slice(folder.length + 2), content]] : [],
    ),
  )

async function twoFolders(random: Random): Promise<{ proxy: Proxy; clients: [Client, Client] }> {
  const server = await serverOfTest()
  const proxy = await startProxy(server.url, random)
  const account = await server.account()
  const other = await account.another()
  return {
    proxy,
    clients: [await clientOf(account, proxy.url), await clientOf(other, proxy.url, { device: 'Desktop' })],
  }
}

const writtenBy = (root: string, folder: string): string[] =>
  Object.values(caseIn(readTree(root), folder)).filter((content) => content !== null)

for (const [first, seed] of [
  ['one', 0],
  ['other', 1],
  ['one', 2],
] as const) {
  const through = seed === 0 ? 'a quiet network' : `a hostile network (${seed})`
  test(`whatever both sides do, both end equal and nothing is lost: ${first} first, through ${through}`, async () => {
    const random = makeRandom(seed)
    const { proxy, clients } = await twoFolders(random)
    const [one, other] = clients
    for (const { folder } of cases) prepare(join(one.root, folder))
    await untilEqual(clients)

    const written = new Map<string, string[]>()
    const alone = new Map<string, Files>()
    for (const { folder, ...done } of cases) {
      changes[done.one]!(join(one.root, folder), 'one')
      changes[done.other]!(join(other.root, folder), 'other')
      // What only one side changed ends as that side left it.
      if (done.other === 'nothing') alone.set(folder, caseIn(readTree(one.root), folder))
      else if (done.one === 'nothing') alone.set(folder, caseIn(readTree(other.root), folder))
      written.set(folder, [...writtenBy(one.root, folder), ...writtenBy(other.root, folder)])
    }
    // One request in three goes wrong, but now and then a run gets through.
    if (seed > 0) proxy.next = () => (random.below(3) === 0 ? random.of(mischiefs) : undefined)
    const order = first === 'one' ? [one, other] : [other, one]
    for (let round = 0; round < 3; round += 1) for (const client of order) await runThrough(client)
    proxy.next = () => undefined
    await untilEqual(order)

    const end = readTree(one.root)
    expect(readTree(other.root)).toEqual(end)
    for (const { folder, ...done } of cases) {
      const left = caseIn(end, folder)
      const gone = new Set([...givenUp(done.one), ...givenUp(done.other)])
      const missing = new Set(written.get(folder)!.filter((content) => !gone.has(content)))
      for (const content of Object.values(left)) if (content !== null) missing.delete(content)
      expect([...missing], `${done.one} / ${done.other}`).toEqual([])
      if (alone.has(folder)) expect(left, `${done.one} / ${done.other}`).toEqual(alone.get(folder))
    }
  })
}
