import type { Account } from './account.ts'
import type { TestServer } from './server.ts'

/** Creates a room with members directly in the database; returns its id. */
export const makeRoom = (
  { database, clock }: TestServer,
  name: string,
  ...members: Pick<Account, 'id'>[]
): Promise<number> =>
  database.write('instance', async (tx) => {
    const now = clock.now()
    const { id } = await tx.q
      .insertInto('rooms')
      .values({ name, type: 'channel', created_by: members[0]!.id, version: 1, created_at: now, updated_at: now })
      .returning('id')
      .executeTakeFirstOrThrow()
    for (const member of members) {
      await tx.q.insertInto('room_members').values({ room_id: id, user_id: member.id, joined_at: now }).execute()
    }
    return id
  })

/** Removes a member from a room. */
export const leaveRoom = async ({ database }: TestServer, room: number, member: Account): Promise<void> => {
  await database.write('instance', (tx) =>
    tx.q.deleteFrom('room_members').where('room_id', '=', room).where('user_id', '=', member.id).execute(),
  )
}
