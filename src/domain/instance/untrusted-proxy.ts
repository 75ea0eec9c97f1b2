import type { Database } from '../../storage/engine/database.ts'
import { findFact, noteFact } from '../../storage/instance/settings.ts'

const KEY = 'unnamed_proxy'

/** Records a proxy that forwards requests but is not trusted, as seen since the last start. */
export const makeUntrustedProxy = (database: Database) => ({
  /** Records its address without delaying the request. */
  note(address: string): void {
    // Only for later diagnosis: if the write fails, the log contains it.
    database.write('instance', (tx) => noteFact(tx, KEY, address)).catch(() => undefined)
  },

  seen: (): Promise<string | undefined> => findFact(database.read, KEY),

  /** Forgets it at start: the proxy may be trusted by now, and is otherwise seen again. */
  async forget(): Promise<void> {
    if ((await findFact(database.read, KEY)) !== undefined)
      await database.write('instance', (tx) => noteFact(tx, KEY, undefined))
  },
})
