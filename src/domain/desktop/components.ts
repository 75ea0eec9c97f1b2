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
import { assertName, invalidField } from './names.ts'
import { formatTimestamp } from './timestamps.ts'

const MAX_METADATA_BYTES = 16 * 1_024
const MAX_METADATA_DEPTH = 16
const MAX_COMPONENTS = 200
const MAX_VERSIONS = 100

export type NewComponent = Params<typeof desktopComponents.actions.save>

interface Deps {
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

function metadataText(metadata: object): string {
  if (isDeeper(metadata, MAX_METADATA_DEPTH))
    throw invalidField('metadata', `must not be nested deeper than ${MAX_METADATA_DEPTH} levels`)
  const text = JSON.stringify(metadata)
  if (!fitsBytes(text, MAX_METADATA_BYTES))
    throw invalidField('metadata', `must not have more than ${MAX_METADATA_BYTES} bytes`)
  return text
}

const metadataOf = (text: string) => JSON.parse(text) as Record<string, unknown>

const toComponent = ({ is_active, metadata, updated_at, ...component }: StoredComponent) => ({
  ...component,
  is_active: is_active === 1,
  metadata: metadataOf(metadata),
  updated_at: formatTimestamp(updated_at),
})

/** Who changes components; `allowsCode` permits scripts (`js`). */
export interface ComponentEditor {
  user: number
  allowsCode: boolean
}

/** Refuses scripts of an editor without `allowsCode`: fault `forbidden`. */
export function assertCodeAllowed(
  { allowsCode }: ComponentEditor,
  type: NewComponent['component_type'] | undefined,
): void {
  if (type === 'js' && !allowsCode)
    throw fault('forbidden', {
      text: 'A device token cannot activate components of type js: do it on the desktop, or with a token that `svc token mint --allow code` made.',
    })
}

/** Validates a component and converts it to its stored form. Fault `bad_request`. */
export function readComponent({ component_id, component_type, code, metadata = {} }: NewComponent): ComponentContent {
  assertName('component_id', component_id)
  assertCode(component_type, code)
  return { component_id, component_type, code, metadata: metadataText(metadata) }
}

/**
 * Stores the next version of a component, makes it active and returns its number. Writers are serialised, so numbers are
 * consecutive. Keeps the newest 100 versions. Fault `conflict` if `base` is given and is not the newest version.
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
    throw fault('quota_exceeded', { text: `There are already ${MAX_COMPONENTS} components.` })
  await withinBound(tx, user, 'components', () => insertVersion(tx, user, { ...component, version }, MAX_VERSIONS, now))
  await activate(tx, user, component.component_id, version)
  return version
}

/** Components of users' desktops: styles, scripts and widgets. */
export function makeComponents({ database, clock, audit }: Deps) {
  return {
    async list(user: number) {
      return (await activeComponents(database.read, user)).map(toComponent)
    },

    /** The active version, or the given one. Fault `not_found`. */
    async get(user: number, component: string, version?: number) {
      const stored =
        version === undefined
          ? await activeComponent(database.read, user, component)
          : await componentVersion(database.read, user, component, version)
      if (!stored) throw fault('not_found')
      return toComponent(stored)
    },

    /**
     * Stores a version, makes it active and returns its number. Faults: `bad_request`, `quota_exceeded`, `forbidden` for a
     * script without `allowsCode`, `conflict` if `base_version` is not the newest.
     */
    async save(editor: ComponentEditor, component: NewComponent): Promise<number> {
      const content = readComponent(component)
      assertCodeAllowed(editor, content.component_type)
      return database.write({ accounts: [editor.user] }, (tx) =>
        addVersion(tx, editor.user, content, clock.now(), component.base_version),
      )
    },

    /** Versions, newest first. Fault `not_found`. */
    async history(user: number, component: string) {
      const versions = await versionsOfComponent(database.read, user, component)
      if (versions.length === 0) throw fault('not_found')
      return versions.map(({ version, is_active, updated_at, metadata }) => ({
        version,
        is_active: is_active === 1,
        updated_at: formatTimestamp(updated_at),
        metadata: metadataOf(metadata),
      }))
    },

    /** Activates a stored version. Faults: `not_found`, `forbidden`. */
    async activate(editor: ComponentEditor, component: string, version: number): Promise<void> {
      const { user } = editor
      await database.write({ accounts: [user] }, async (tx) => {
        assertCodeAllowed(editor, (await componentVersion(tx, user, component, version))?.component_type)
        if (!(await activate(tx, user, component, version))) throw fault('not_found')
      })
    },

    /** Deactivates a component. Returns the number of deactivated versions. Fault `not_found`. */
    reset: (user: number, component: string): Promise<number> =>
      database.write({ accounts: [user] }, async (tx) => {
        if ((await newestVersion(tx, user, component)) === 0) throw fault('not_found')
        return deactivate(tx, user, component)
      }),

    /** Deactivates all components of the account. Returns their number. */
    resetOwn: (user: number): Promise<number> => database.write({ accounts: [user] }, (tx) => deactivate(tx, user)),

    /** All components of the account by name, active or not. */
    async all(user: number) {
      return (await componentOverviews(database.read, user)).map(({ username: _, updated_at, ...component }) => ({
        ...component,
        updated_at: formatTimestamp(updated_at),
      }))
    },

    overview: (user?: number): Promise<ComponentOverview[]> => componentOverviews(database.read, user),

    /** Deactivates all components of an account; versions and profiles stay. Returns their number. For administrators. */
    resetAll: (user: number): Promise<number> =>
      database.write({ accounts: [user] }, async (tx) => {
        const count = await deactivate(tx, user)
        if (count > 0) await audit.record(tx, { kind: 'components.reset', about: user, detail: { deactivated: count } })
        return count
      }),
  }
}
