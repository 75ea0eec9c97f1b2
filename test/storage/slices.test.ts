import { expect, test } from 'vitest'
import { forgetAudit } from '../../src/storage/instance/audit.ts'
import { inSlices, SLICE } from '../../src/storage/engine/slices.ts'
import { databaseOfTest } from '../support/storage.ts'

test('old rows are removed in transactions of a bounded size, and others write between two of them', async () => {
  const { database } = await databaseOfTest()
  const old = 2 * SLICE + 1
  const entry = { kind: 'test', actor_id: null, actor: 'test', target: null, ip: null, user_agent: null, detail: null }
  await database.write('instance', async (tx) => {
    for (let at = 1; at <= old + 1; at += 1)
      await tx.q
        .insertInto('audit')
        .values({ ...entry, at })
        .execute()
  })
  const sizes: number[] = []
  let between = 0
  const removed = await inSlices(database, async (tx, limit) => {
    // Waits behind this slice and before the next one.
    void database.write('instance', () => Promise.resolve(between++))
    const count = await forgetAudit(tx, old + 1, limit)
    sizes.push(count)
    return count
  })
  expect(removed).toBe(old)
  expect(sizes).toEqual([SLICE, SLICE, 1])
  expect(between).toBeGreaterThanOrEqual(2)
  expect(await database.read.q.selectFrom('audit').select('at').execute()).toEqual([{ at: old + 1 }])
})
