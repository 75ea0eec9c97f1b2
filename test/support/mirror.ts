import { expect } from 'vitest'
import { filesystem } from '../../src/contract/filesystem.ts'
import type { Account, Row } from './account.ts'

/** A client that knows the account's files only from the feed. */
export interface Mirror {
  /** Applies the changes, and fails unless the result equals the manifest and an initial sync. */
  follow(more?: { /** Bytes that the account uses outside its own tree. */ elsewhere?: number }): Promise<void>
}

const pathsOf = (rows: Map<number, Row>): Map<string, Row> => {
  const pathOf = (row: Row): string =>
    `${row['parent_id'] === null ? '' : pathOf(rows.get(row['parent_id'] as number)!)}/${String(row['name'])}`
  return new Map([...rows.values()].map((row) => [pathOf(row), row]))
}

export function mirrorOf(account: Account): Mirror {
  const rows = new Map<number, Row>()
  let cursor = 0
  return {
    async follow({ elsewhere = 0 } = {}) {
      for (let more = true; more;) {
        const page = await account.delta(cursor, { limit: 5_000 })
        for (const { table, operation, data } of page.changes) {
          expect(table).toBe('svc_files')
          // The feed contains only the last state of what was created and deleted since; an INSERT must be unknown.
          if (operation === 'DELETE') rows.delete(data.id)
          else {
            if (operation === 'UPDATE') expect(rows.has(data.id)).toBe(true)
            rows.set(data.id, data)
          }
        }
        cursor = page.cursor
        more = page.has_more
      }
      const known = pathsOf(rows)
      const files = [...known].filter(([, { type }]) => type === 'file')
      const manifest = await account.manifest()
      const byPath = (a: { path: string }, b: { path: string }) => (a.path < b.path ? -1 : 1)
      expect(
        files.map(([path, { size, sha256, mtime }]) => ({ path, size, sha256, mtime })).sort(byPath as never),
      ).toEqual([...manifest.files].sort(byPath))
      expect([...known].flatMap(([path, { type }]) => (type === 'directory' ? [path] : [])).sort()).toEqual(
        [...manifest.directories].sort(),
      )
      const { svc_files: fresh = [] } = (await account.everything()).data
      expect([...rows.values()].sort((a, b) => a.id - b.id)).toEqual(fresh)
      const { used } = await account.ask(filesystem.actions.quota, {})
      expect(used).toBe(manifest.files.reduce((sum, { size }) => sum + size, elsewhere))
    },
  }
}
