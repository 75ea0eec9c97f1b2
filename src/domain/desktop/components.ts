import type { Clock } from '../../base/clock.ts'
import { fitsBytes } from '../../base/text.ts'
import type { desktopComponents } from '../../contract/desktop-components.ts'
import type { Params } from '../../contract/define.ts'
import { fault } from '../../contract/errors.ts'
import { COMPONENT_CODE } from '../../contract/limits.ts'
import {
  activate,
  activeComponent,
  activeComponents,
  componentVersion,
  componentCount,
  componentOverviews,
  deactivate,
  insertVersion,
  newestVersion,
  versionsOfComponent,
  type ComponentContent,
  type ComponentOverview,
  type StoredComponent,
} from '../../storage/desktop/components.ts'
import type { Database, Writer } from '../../storage/engine/database.ts'
import { withinBound } from '../data-bounds.ts'
import type { Audit } from '../instance/instance.ts'
import { assertName, refuse } from './names.ts'
import { stamp } from './stamp.ts'

const MAX_METADATA_BYTES = 16 * 1_024
const MAX_METADATA_DEPTH = 16
const MAX_COMPONENTS = 200
const KEPT_VERSIONS = 100

export type NewComponent = Params<typeof desktopComponents.actions.save>

interface Parts {
  database: Database
  clock: Clock
  audit: Audit
}

function assertCode(type: NewComponent['component_type'], code: string): void {
  if (!fitsBytes(code, COMPONENT_CODE.max_bytes)) throw fault('bad_request', { text: 'Code zu gross' })
  if (type === 'js' && COMPONENT_CODE.blocked.some((pattern) => code.includes(pattern)))
    throw fault('bad_request', { text: 'Blockierter Code' })
}

function isDeeper(value: unknown, depth: number): boolean {
  if (typeof value !== 'object' || value === null) return false
  return depth === 0 || Object.values(value).some((part) => isDeeper(part, depth - 1))
}

/** Metadata as it is stored. */
function metadataText(metadata: object): string {
  if (isDeeper(metadata, MAX_METADATA_DEPTH))
    throw refuse('metadata', `must not be nested deeper than ${MAX_METADATA_DEPTH} levels`)
  const text = JSON.stringify(metadata)
  if (!fitsBytes(text, MAX_METADATA_BYTES))
    throw refuse('metadata', `must not have more than ${MAX_METADATA_BYTES} bytes`)
  return text
}

const metadataOf = (text: string) => JSON.parse(text) as Record<string, unknown>

const toComponent = ({ is_active, metadata, updated_at, ...component }: StoredComponent) => ({
  ...component,
  is_active: is_active === 1,
  metadata: metadataOf(metadata),
  updated_at: stamp(updated_at),
})

/** Who changes components, as far as it matters what of: `allowsCode` for scripts (`js`) too. */
export interface Author {
  user: number
  allowsCode: boolean
}

/** Refuses scripts from who may not bring them: fault `forbidden`. */
export function assertMayRun({ allowsCode }: Author, type: NewComponent['component_type'] | undefined): void {
  if (type === 'js' && !allowsCode)
    throw fault('forbidden', {
      text: 'A device token puts no component of type js in force: do it on the desktop, or with a token that `svc token mint --allow code` made.',
    })
}

/** A component as it is stored. Refuses a name, code or metadata that break a rule: fault `bad_request`. */
export function readComponent({ component_id, component_type, code, metadata = {} }: NewComponent): ComponentContent {
  assertName('component_id', component_id)
  assertCode(component_type, code)
  return { component_id, component_type, code, metadata: metadataText(metadata) }
}

/**
 * Stores the next version of a component and makes it the active one; returns its number. Writers come one after
 * another, so numbers have no gaps and no two are the same. Only the newest 100 versions are kept. Fault `conflict` when
 * `base` is given and is not the newest version there is.
 */
export async function addVersion(
  tx: Writer,
  user: number,
  component: ComponentContent,
  now: number,
  base?: number,
): Promise<number> {
  const newest = await newestVersion(tx, user, component.component_id)
  if (base !== undefined && base !== newest) throw fault('conflict', { fields: { current: newest } })
  const version = newest + 1
  if (version === 1 && (await componentCount(tx, user)) >= MAX_COMPONENTS)
    throw fault('quota_exceeded', { text: `There are ${MAX_COMPONENTS} components already.` })
  await withinBound(tx, user, 'components', () =>
    insertVersion(tx, user, { ...component, version }, KEPT_VERSIONS, now),
  )
  await activate(tx, user, component.component_id, version)
  return version
}

/** Styles, hooks and widgets of users: what users call speaks of the components of one account alone. */
export function makeComponents({ database, clock, audit }: Parts) {
  return {
    /** Active versions by component. */
    async list(user: number) {
      return (await activeComponents(database.read, user)).map(toComponent)
    },

    /** The active version, or the one that is named. Fault `not_found` when there is none. */
    async get(user: number, component: string, version?: number) {
      const stored =
        version === undefined
          ? await activeComponent(database.read, user, component)
          : await componentVersion(database.read, user, component, version)
      if (!stored) throw fault('not_found')
      return toComponent(stored)
    },

    /**
     * Stores a version and makes it the active one; returns its number. Faults: `bad_request`, `quota_exceeded`, `forbidden` for
     * a script from who brings none, and `conflict` when there is another version than the one it is based on.
     */
    async save(author: Author, component: NewComponent): Promise<number> {
      const content = readComponent(component)
      assertMayRun(author, content.component_type)
      return database.write((tx) => addVersion(tx, author.user, content, clock.now(), component.base_version))
    },

    /** Versions, newest first, with the time each was stored. Fault `not_found` when there is no such component. */
    async history(user: number, component: string) {
      const versions = await versionsOfComponent(database.read, user, component)
      if (versions.length === 0) throw fault('not_found')
      return versions.map(({ version, is_active, updated_at, metadata }) => ({
        version,
        is_active: is_active === 1,
        updated_at: stamp(updated_at),
        metadata: metadataOf(metadata),
      }))
    },

    /** Goes back (or forth) to a version. Faults: `not_found` when it does not exist any more, or never did, `forbidden`. */
    async activate(author: Author, component: string, version: number): Promise<void> {
      const { user } = author
      await database.write(async (tx) => {
        assertMayRun(author, (await componentVersion(tx, user, component, version))?.component_type)
        if (!(await activate(tx, user, component, version))) throw fault('not_found')
      })
    },

    /** Leaves no version active; says how many were. Fault `not_found` when there is no such component. */
    reset: (user: number, component: string): Promise<number> =>
      database.write(async (tx) => {
        if ((await newestVersion(tx, user, component)) === 0) throw fault('not_found')
        return deactivate(tx, user, component)
      }),

    /** Leaves no component of the account active; says how many were. */
    resetOwn: (user: number): Promise<number> => database.write((tx) => deactivate(tx, user)),

    /** Every component of the account by name, active or not. */
    async all(user: number) {
      return (await componentOverviews(database.read, user)).map(({ username: _, updated_at, ...component }) => ({
        ...component,
        updated_at: stamp(updated_at),
      }))
    },

    /** Every component of everybody, or of one account, for whoever administers the service. */
    overview: (user?: number): Promise<ComponentOverview[]> => componentOverviews(database.read, user),

    /**
     * Leaves no component of an account active, so that its desktop starts as a new one does; says how many were. Versions
     * and profiles stay. For whoever administers the service.
     */
    resetAll: (user: number): Promise<number> =>
      database.write(async (tx) => {
        const count = await deactivate(tx, user)
        if (count > 0) await audit.record(tx, { kind: 'components.reset', about: user, detail: { deactivated: count } })
        return count
      }),
  }
}
