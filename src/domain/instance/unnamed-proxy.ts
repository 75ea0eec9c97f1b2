import type { Database } from '../../storage/engine/database.ts'
import { findFact, noteFact } from '../../storage/instance/settings.ts'

const KEY = 'unnamed_proxy'

/** A proxy that passes requests on and is not among the trusted ones, as it was seen since a server started last. */
export const makeUnnamedProxy = (database: Database) => ({
  /** Notes its address, beside the request. */
  note(address: string): void {
    // For a diagnosis later: when it cannot be written, the log has it all the same.
    database.write((tx) => noteFact(tx, KEY, address)).catch(() => undefined)
  },

  /** Its address. */
  seen: (): Promise<string | undefined> => findFact(database.read, KEY),

  /** Forgets it: a server that starts may trust it by now, and sees it again where it does not. */
  async forget(): Promise<void> {
    if ((await findFact(database.read, KEY)) !== undefined) await database.write((tx) => noteFact(tx, KEY, undefined))
  },
})
