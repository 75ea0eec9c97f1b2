import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { systemClock } from '../../../src/base/clock.ts'
import { makeAudit } from '../../../src/domain/instance/instance.ts'
import { makeImport } from '../../../src/domain/portability/import.ts'
import type { Database } from '../../../src/storage/engine/database.ts'
import { openSqlite } from '../../../src/storage/engine/sqlite.ts'
import { anotherServer, archiveOf, HASH, readable } from './world.ts'

/** How many notes each commit of an import added, with notes of so many characters, and whether others had time in between. */
async function importedIn(notes: number, characters: number): Promise<{ steps: number[]; events: string[] }> {
  const { domain, dataDir } = await anotherServer()
  const own = openSqlite(join(dataDir, 'svc.db'))
  onTestFinished(() => own.close())
  const counts = [0]
  const events: string[] = []
  const count = async () =>
    (
      await own.read.q
        .selectFrom('svc_notes' as 'users')
        .select('id')
        .execute()
    ).length - counts.reduce((a, b) => a + b)
  const database: Database = {
    ...own,
    async write(scope, unit) {
      events.push('commit')
      const answer = await own.write(scope, unit)
      counts.push(await count())
      // As another process, which polls the write lock every 10 ms.
      if (counts.at(-1)! === 200) setTimeout(() => events.push('other'), 10)
      return answer
    },
  }
  const audit = makeAudit({ database, clock: systemClock, operator: 'system' })
  const policy = () => Promise.resolve({ defaultQuota: -1, maxFileSize: -1, allowedOrigins: [] })
  const { accounts, files } = domain
  const stamps = { version: 1, created_at: '2026-01-01T00:00:00.000Z', updated_at: '2026-01-01T00:00:00.000Z' }
  const rows = Array.from({ length: notes }, (_, index) =>
    JSON.stringify({ id: index + 1, title: `${index}`, content: 'x'.repeat(characters), ...stamps }),
  )
  const archive = archiveOf([{ name: 'rows/svc_notes.jsonl', content: `${rows.join('\n')}\n` }])
  const plan = await makeImport({ database, clock: systemClock, audit, accounts, files, policy }).planImport(
    readable(archive),
  )
  await plan.execute({ hash: HASH })
  return { steps: counts.filter((added) => added > 0), events }
}

test('rows of an archive are stored in transactions that hold up nobody for long, with time for others in between', async () => {
  const { steps, events } = await importedIn(1_050, 10)
  expect(steps).toEqual([200, 200, 200, 200, 200, 50])
  expect(events.join(' ')).toContain('commit other commit other commit other commit other commit other commit')
  const { steps: large } = await importedIn(12, 200_000)
  expect([large.reduce((a, b) => a + b), Math.max(...large)]).toEqual([12, 6])
})
