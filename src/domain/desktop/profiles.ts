import type { Clock } from '../../base/clock.ts'
import { fault } from '../../contract/errors.ts'
import {
  componentsOfProfile,
  deactivate,
  deleteProfile,
  insertProfile,
  profileCount,
  profilesOf,
  renameProfile,
} from '../../storage/desktop/components.ts'
import type { Database } from '../../storage/engine/database.ts'
import { withinBound } from '../data-bounds.ts'
import { addVersion, assertMayRun, type Author } from './components.ts'
import { assertName } from './names.ts'
import { stamp } from './stamp.ts'

const MAX_PROFILES = 50

interface Parts {
  database: Database
  clock: Clock
}

interface Profile {
  id: number
  name: string
  is_default: boolean
  /** Ids of the components, sorted. */
  components: string[]
  created_at: string
}

/** Sets of components under a name. A profile keeps copies: whatever becomes of the components, it restores them. */
export function makeProfiles({ database, clock }: Parts) {
  return {
    /** Profiles by name. */
    async list(user: number): Promise<Profile[]> {
      const profiles = new Map<number, Profile>()
      for (const { id, name, is_default, created_at, component_id } of await profilesOf(database.read, user)) {
        const known = profiles.get(id)
        const profile = known ?? {
          id,
          name,
          is_default: is_default === 1,
          components: [],
          created_at: stamp(created_at),
        }
        if (!known) profiles.set(id, profile)
        if (component_id !== null) profile.components.push(component_id)
      }
      return [...profiles.values()]
    },

    /** Keeps what is active now as a new profile, beside others of that name. Faults: `bad_request`, `quota_exceeded`. */
    async save(user: number, name: string): Promise<{ id: number; components: number }> {
      assertName('name', name)
      return database.write(async (tx) => {
        if ((await profileCount(tx, user)) >= MAX_PROFILES)
          throw fault('quota_exceeded', { text: `There are ${MAX_PROFILES} profiles already.` })
        return withinBound(tx, user, 'components', () => insertProfile(tx, user, name, clock.now()))
      })
    },

    /**
     * Restores each component of a profile as a new version and says how many there are; with `exclusive` all other
     * components become inactive. Faults: `not_found`, `quota_exceeded`, and `forbidden` for one with scripts from who brings none.
     */
    load: (author: Author, profile: number, exclusive: boolean): Promise<number> =>
      database.write(async (tx) => {
        const { user } = author
        const components = await componentsOfProfile(tx, user, profile)
        if (!components) throw fault('not_found')
        for (const { component_type } of components) assertMayRun(author, component_type)
        if (exclusive) await deactivate(tx, user)
        for (const component of components) await addVersion(tx, user, component, clock.now())
        return components.length
      }),

    /** Calls a profile otherwise. Faults: `bad_request`, `not_found`. */
    async rename(user: number, profile: number, name: string): Promise<void> {
      assertName('name', name)
      if (!(await database.write((tx) => renameProfile(tx, user, profile, name)))) throw fault('not_found')
    },

    /** Removes a profile; components stay as they are. Fault `not_found`. */
    async remove(user: number, profile: number): Promise<void> {
      if (!(await database.write((tx) => deleteProfile(tx, user, profile)))) throw fault('not_found')
    },
  }
}
