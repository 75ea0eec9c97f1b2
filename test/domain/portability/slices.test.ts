import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { systemClock } from '../../../src/base/clock.ts'
import { makeAudit } from '../../../src/domain/instance/instance.ts'
import { makeImport } from '../../../src/domain/portability/import.ts'
import type { Database } from '../../../src/storage/engine/database.ts'
import { openSqlite } from '../../../src/storage/engine/sqlite.ts'
import { anotherServer, archiveOf, HASH, readable } from './world.ts'

/** How many notes each commit of an import added, with notes of so many characters. */
async function stepsOf(notes: number, characters: number): Promise<number[]> {
  const { domain, dataDir } = await anotherServer()
  const own = openSqlite(join(dataDir, 'svc.db'))
  onTestFinished(() => own.close())
  const counts = [0]
  const count = async () =>
    (
      await own.read.q
        .selectFrom('svc_notes' as 'users')
        .select('id')
        .execute()
    ).length - counts.reduce((a, b) => a + b)
  const database: Database = {
    ...own,
    async write(unit) {
      const answer = await own.write(unit)
      counts.push(await count())
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
  await plan.carryOut({ hash: HASH })
  return counts.filter((added) => added > 0)
}

test('rows of an archive are stored in transactions that hold up nobody for long', async () => {
  expect(await stepsOf(450, 10)).toEqual([200, 200, 50])
  const large = await stepsOf(12, 200_000)
  expect([large.reduce((a, b) => a + b), Math.max(...large)]).toEqual([12, 6])
})
