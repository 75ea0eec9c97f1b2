import type { Reader } from '../engine/database.ts'

/** A previous content of a file. */
export interface Version {
  id: number
  sha256: string
  size: number
  /** Seconds. */
  mtime: number
  replaced_at: number
}

const shown = ['id', 'sha256', 'size', 'mtime', 'replaced_at'] as const

/** The previous contents of a file, newest first. */
export const versionsOf = (on: Reader, node: number): Promise<Version[]> =>
  on.q
    .selectFrom('versions')
    .select(shown)
    .where('node_id', '=', node)
    .orderBy('replaced_at', 'desc')
    .orderBy('id', 'desc')
    .execute()

export const versionOf = (on: Reader, node: number, id: number): Promise<Version | undefined> =>
  on.q.selectFrom('versions').select(shown).where('node_id', '=', node).where('id', '=', id).executeTakeFirst()
