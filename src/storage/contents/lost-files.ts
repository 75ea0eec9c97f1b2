import { sql } from 'kysely'
import type { Reader } from '../engine/database.ts'
import { nextTurn } from '../engine/event-loop.ts'

// Whether the database has lost rows of files: then contents look unreferenced that are not. Read in windows, because the
// server asks this about all files of all accounts.

/** Rows examined by one statement, before others have their turn. */
const WINDOW = 2_000

interface Account {
  user_id: number
  used_bytes: number
}

/** Accounts in windows; those being removed lose their files on purpose. */
async function* accounts(on: Reader): AsyncGenerator<Account> {
  for (let after = -1; ;) {
    const page = await on.q
      .selectFrom('counters')
      .select(['user_id', 'used_bytes'])
      .where('user_id', '>', after)
      .where('user_id', 'not in', on.q.selectFrom('removals').select('user_id'))
      .orderBy('user_id')
      .limit(WINDOW)
      .execute()
    yield* page
    if (page.length < WINDOW) return
    after = page.at(-1)!.user_id
  }
}

/** Whether the feed of an account has a file that is gone, without having been deleted. */
async function lacksFileOfFeed(on: Reader, user: number): Promise<boolean> {
  for (let after: number | null = -1; after !== null; await nextTurn()) {
    const { rows }: { rows: { last: number | null; lost: number }[] } = await sql<{
      last: number | null
      lost: number
    }>`select max(row_id) as last, coalesce(sum(case when deleted = 0 and not exists (
        select 1 from nodes n where n.id = row_id and n.user_id = ${user}
        and n.parent_id is not null and n.room_id is null and n.trash_id is null
      ) then 1 else 0 end), 0) as lost from (
        select row_id, deleted from changes where user_id = ${user} and tbl = 'svc_files' and row_id > ${after}
        order by row_id limit ${WINDOW}
      ) examined`.execute(on.q)
    if (Number(rows[0]!.lost) > 0) return true
    after = rows[0]!.last
  }
  return false
}

/** Bytes of the files of an account that are not in the trash. */
async function bytesOf(on: Reader, user: number): Promise<number> {
  let sum = 0
  for (let after: number | null = -1; after !== null; await nextTurn()) {
    const { rows }: { rows: { last: number | null; bytes: number }[] } = await sql<{
      last: number | null
      bytes: number
    }>`select max(id) as last, coalesce(sum(case when trash_id is null then size else 0 end), 0) as bytes from (
        select id, trash_id, size from nodes where user_id = ${user} and type = 'file' and id > ${after}
        order by id limit ${WINDOW}
      ) examined`.execute(on.q)
    sum += Number(rows[0]!.bytes)
    after = rows[0]!.last
  }
  return sum
}

/** Whether feeds name files that are gone, or accounts have fewer bytes than was counted. */
export async function hasLostFiles(on: Reader): Promise<boolean> {
  for await (const { user_id: user, used_bytes: counted } of accounts(on))
    if ((await lacksFileOfFeed(on, user)) || (await bytesOf(on, user)) < counted) return true
  return false
}
