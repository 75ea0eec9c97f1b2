import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { openSqliteFile } from '../../src/host/sqlite-file.ts'

function place(): string {
  const folder = mkdtempSync(join(tmpdir(), 'svc-sqlite-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  return join(folder, 'file.db')
}

test('keeps what a transaction did, all of it or nothing', () => {
  const file = place()
  const db = openSqliteFile(file)
  db.script('create table t (n integer primary key, word text)')
  db.transaction(() => {
    db.run('insert into t values (?, ?)', 1, 'one')
    db.run('insert into t values (?, ?)', 2, null)
  })
  const broken = () =>
    db.transaction(() => {
      db.run('insert into t values (?, ?)', 3, 'three')
      db.run('insert into t values (?, ?)', 1, 'again')
    })
  expect(broken).toThrow(/UNIQUE/)
  db.close()

  const again = openSqliteFile(file)
  expect(again.all('select * from t')).toEqual([
    { n: 1, word: 'one' },
    { n: 2, word: null },
  ])
  expect(again.get('select word from t where n = ?', 1)).toEqual({ word: 'one' })
  expect(again.get('select word from t where n = ?', 3)).toBeUndefined()
  again.close()
})

test('a commit is on the disk before it returns', () => {
  const db = openSqliteFile(place())
  expect(db.get('pragma synchronous')).toEqual({ synchronous: 2 })
  expect(db.get('pragma journal_mode')).toEqual({ journal_mode: 'wal' })
  db.close()
})

test('a file that is no database is refused', () => {
  const file = place()
  writeFileSync(file, 'words and words '.repeat(100))
  expect(() => openSqliteFile(file)).toThrow(expect.objectContaining({ code: 'SQLITE_NOTADB' }))
})
