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
import { addVersion, assertCodeAllowed, type ComponentEditor } from './components.ts'
import { assertName } from './names.ts'
import { formatTimestamp } from './timestamps.ts'

const MAX_PROFILES = 50

interface Deps {
  database: Database
  clock: Clock
}

interface Profile {
  id: number
  name: string
  is_default: boolean
  /** Component ids, sorted. */
  components: string[]
  created_at: string
}

/** Named sets of components. A profile stores copies, so it restores components that were changed or removed. */
export function makeProfiles({ database, clock }: Deps) {
  return {
    async list(user: number): Promise<Profile[]> {
      const profiles = new Map<number, Profile>()
      for (const { id, name, is_default, created_at, component_id } of await profilesOf(database.read, user)) {
        const known = profiles.get(id)
        const profile = known ?? {
          id,
          name,
          is_default: is_default === 1,
          components: [],
          created_at: formatTimestamp(created_at),
        }
        if (!known) profiles.set(id, profile)
        if (component_id !== null) profile.components.push(component_id)
      }
      return [...profiles.values()]
    },

    /** Saves the active components as a new profile; names need not be unique. Faults: `bad_request`, `quota_exceeded`. */
    async save(user: number, name: string): Promise<{ id: number; components: number }> {
      assertName('name', name)
      return database.write({ accounts: [user] }, async (tx) => {
        if ((await profileCount(tx, user)) >= MAX_PROFILES)
          throw fault('quota_exceeded', { text: `There are already ${MAX_PROFILES} profiles.` })
        return withinBound(tx, user, 'components', () => insertProfile(tx, user, name, clock.now()))
      })
    },

    /**
     * Restores each component of a profile as a new version and returns their number; `exclusive` deactivates all others.
     * Faults: `not_found`, `quota_exceeded`, `forbidden` for a script without `allowsCode`.
     */
    load: (editor: ComponentEditor, profile: number, exclusive: boolean): Promise<number> =>
      database.write({ accounts: [editor.user] }, async (tx) => {
        const { user } = editor
        const components = await componentsOfProfile(tx, user, profile)
        if (!components) throw fault('not_found')
        for (const { component_type } of components) assertCodeAllowed(editor, component_type)
        if (exclusive) await deactivate(tx, user)
        for (const component of components) await addVersion(tx, user, component, clock.now())
        return components.length
      }),

    /** Renames a profile. Faults: `bad_request`, `not_found`. */
    async rename(user: number, profile: number, name: string): Promise<void> {
      assertName('name', name)
      if (!(await database.write({ accounts: [user] }, (tx) => renameProfile(tx, user, profile, name))))
        throw fault('not_found')
    },

    /** Removes a profile; components stay unchanged. Fault `not_found`. */
    async remove(user: number, profile: number): Promise<void> {
      if (!(await database.write({ accounts: [user] }, (tx) => deleteProfile(tx, user, profile))))
        throw fault('not_found')
    },
  }
}
