import { beforeEach, expect, test } from 'vitest'
import {
  auditEntries,
  auditEntriesAfter,
  insertAuditEntry,
  newestAuditId,
  type AuditFilter,
} from '../../src/storage/instance/audit.ts'
import type { Database } from '../../src/storage/engine/database.ts'
import { databaseOfTest, plansOf } from '../support/storage.ts'

let database: Database
beforeEach(async () => {
  database = (await databaseOfTest()).database
  const entries: [at: number, kind: string, actor: string, target: string | null][] = [
    [1_000, 'login.ok', 'ada', null],
    [2_000, 'login.failed', 'anonymous', 'ada'],
    [2_000, 'user.changed', 'cli:0', 'bob'],
    [3_000, 'login.ok', 'bob', null],
    [3_500, 'user.changed', 'ada', 'ada'],
  ]
  await database.write('instance', async (tx) => {
    for (const [at, kind, actor, target] of entries) {
      const rest = { actor_id: null, ip: null, user_agent: null, detail: null }
      await insertAuditEntry(tx, { at, kind, actor, target, ...rest })
    }
  })
})

const found = async (filter: Partial<AuditFilter>) =>
  (await auditEntries(database.read, { limit: 10, ...filter })).map(({ id }) => id)

test.each([
  [{}, [5, 4, 3, 2, 1]],
  [{ limit: 2 }, [5, 4]],
  [{ kinds: ['login.ok'] }, [4, 1]],
  [{ kinds: ['login.ok', 'login.failed'], limit: 2 }, [4, 2]],
  // What one did to oneself is there once.
  [{ user: 'ada' }, [5, 2, 1]],
  [{ user: 'ada', kinds: ['login.failed', 'user.changed'] }, [5, 2]],
  [{ user: 'nobody' }, []],
  [{ since: 2_000, until: 3_500 }, [4, 3, 2]],
  [{ user: 'ada', since: 2_000 }, [5, 2]],
])('%j finds %j', async (filter, ids) => {
  expect(await found(filter)).toEqual(ids)
})

test('goes on after an entry, up to its newest', async () => {
  expect(await newestAuditId(database.read)).toBe(5)
  const after = async (id: number, limit: number) =>
    (await auditEntriesAfter(database.read, id, limit)).map((one) => one.id)
  expect([await after(2, 10), await after(2, 1), await after(5, 10)]).toEqual([[3, 4, 5], [3], []])
})

// A log of a year may hold a million entries: no question reads them all, and none sorts what it found.
test.each([
  [{}, ['SCAN audit USING INDEX audit_by_time']],
  [{ since: 5 }, ['SEARCH audit USING INDEX audit_by_time (at>?)']],
  [{ kinds: ['a'], since: 5 }, ['SEARCH audit USING INDEX audit_by_kind (kind=? AND at>?)']],
  [
    { user: 'ada' },
    ['SEARCH audit USING INDEX audit_by_name (actor=?)', 'SEARCH audit USING INDEX audit_by_target (target=?)'],
  ],
])('%j is answered by an index, in order', async (filter, plans) => {
  expect(await plansOf(database, (on) => auditEntries(on, { limit: 10, ...filter }))).toEqual(plans)
})
