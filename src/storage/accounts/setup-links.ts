import type { Reader, Writer } from '../engine/database.ts'

/** Stores the hash of a set-up link in place of all earlier ones. */
export async function replaceSetupLink(tx: Writer, hash: string, expiresAt: number): Promise<void> {
  await deleteSetupLinks(tx)
  await tx.q.insertInto('setup_links').values({ token_hash: hash, expires_at: expiresAt }).execute()
}

/** Whether an unexpired link has this hash. */
export async function isSetupLinkValid(on: Reader, hash: string, now: number): Promise<boolean> {
  const row = await on.q
    .selectFrom('setup_links')
    .select('token_hash')
    .where('token_hash', '=', hash)
    .where('expires_at', '>', now)
    .executeTakeFirst()
  return row !== undefined
}

export const deleteSetupLinks = (tx: Writer) => tx.q.deleteFrom('setup_links').execute()
