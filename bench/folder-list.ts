import { makeAccount, withDatabase, withService } from './account.ts'
import { requestTo, withConnections } from './connection.ts'
import type { Figure } from './figure.ts'
import { interleave, rate } from './rounds.ts'
import { numbers } from './samples.ts'
import { filesOf, seedFiles } from './seeds.ts'

const ENTRIES = 10_000
const LISTINGS = 5

const SELECT = `select n.name, n.type, n.size, n.mtime from nodes n join nodes f on f.id = n.parent_id
  where f.user_id = ? and f.name = 'Everything' and n.trash_id is null`

/** Listing a folder of 10,000 files. */
export const folderList: Figure = {
  name: 'folder-list',
  unit: 'entries/s',
  peer: 'SELECT and JSON.stringify, no HTTP',
  wanted: { least: 0.5 },
  async measure(workspace) {
    const files = filesOf(ENTRIES).map((file) => ({ ...file, folder: 'Everything' }))
    const account = await makeAccount(workspace, (database, user) => seedFiles(database, user, files))
    const { user, token } = account
    return withService(workspace, account, ({ url }) =>
      withConnections(url, 1, ([connection]) =>
        withDatabase(account.database, (database) => {
          const request = requestTo(url, { path: '/api/filesystem.php?action=list&path=/Everything', token })
          const select = database.prepare(SELECT)
          return interleave({
            ours: () =>
              rate(ENTRIES * LISTINGS, async () => {
                for (const _ of numbers(LISTINGS)) {
                  const { body } = await connection!.ask(request)
                  if (Buffer.concat(body).length < ENTRIES * 50) throw new Error('The listing was not complete.')
                }
              }),
            async peer() {
              let bytes = 0
              const value = await rate(ENTRIES * LISTINGS, () => {
                for (const _ of numbers(LISTINGS)) bytes += JSON.stringify(select.all(user)).length
              })
              if (bytes < ENTRIES * LISTINGS * 40) throw new Error('The rows were not all there.')
              return value
            },
            rounds: 9,
          })
        }),
      ),
    )
  },
}
