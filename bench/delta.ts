import { makeAccount, withDatabase, withService } from './account.ts'
import { requestTo, withConnections } from './connection.ts'
import type { Figure } from './figure.ts'
import { interleave, rate } from './rounds.ts'
import { numbers } from './samples.ts'
import { seedNotes } from './seeds.ts'

const ROWS = 50_000
const PAGE = 5_000

const SELECT = `select id, version, created_at, updated_at, title, content, category, pinned, color
  from svc_notes where user_id = ? and id > ? order by id limit ${PAGE}`

/** Reading the whole feed page by page. */
export const delta: Figure = {
  name: 'delta',
  unit: 'rows/s',
  peer: 'SELECT and JSON.stringify, no HTTP',
  wanted: { least: 0.5 },
  async measure(workspace) {
    const account = await makeAccount(workspace, (database, user) => seedNotes(database, user, ROWS))
    const { user, token } = account
    return withService(workspace, account, ({ url }) =>
      withConnections(url, 1, ([connection]) =>
        withDatabase(account.database, (database) => {
          const requests = numbers(ROWS / PAGE).map((page) =>
            requestTo(url, { path: `/api/sync/data.php?action=delta&limit=${PAGE}&cursor=${page * PAGE}`, token }),
          )
          const select = database.prepare(SELECT)
          return interleave({
            ours: () =>
              rate(ROWS, async () => {
                for (const request of requests) {
                  const { body } = await connection!.ask(request)
                  // The end of the response tells whether the page was full; parsing all of it is not measured.
                  const end = Buffer.concat(body.slice(-2))
                  if (!end.includes(`"count":${PAGE}`)) throw new Error('A page of the feed was not full.')
                }
              }),
            async peer() {
              let bytes = 0
              const rows = await rate(ROWS, () => {
                for (let after = 0; after < ROWS; after += PAGE) bytes += JSON.stringify(select.all(user, after)).length
              })
              if (bytes < ROWS * 100) throw new Error('The rows were not all there.')
              return rows
            },
            rounds: 9,
          })
        }),
      ),
    )
  },
}
