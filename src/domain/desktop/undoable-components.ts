import { fault } from '../../contract/errors.ts'
import { activate, activeComponent, componentVersion, deactivate } from '../../storage/desktop/components.ts'
import type { Writer } from '../../storage/engine/database.ts'
import { addVersion, assertCodeAllowed, readComponent, type ComponentEditor, type NewComponent } from './components.ts'

/** A change of the active version of a component; null for none. */
export interface ComponentChange {
  kind: 'component'
  component: string
  before: number | null
  after: number | null
}

export const isComponentChange = (change: { kind: string }): change is ComponentChange => change.kind === 'component'

const activeVersion = async (tx: Writer, user: number, component: string): Promise<number | null> =>
  (await activeComponent(tx, user, component))?.version ?? null

/** Undoable changes of components, each a step of a transaction. */
export const undoableComponents = {
  /** Stores a version and makes it active. Faults: `bad_request`, `quota_exceeded`. */
  async save(tx: Writer, user: number, given: NewComponent, now: number): Promise<ComponentChange> {
    const content = readComponent(given)
    // Scripts are refused: a model may have been misled.
    assertCodeAllowed({ user, allowsCode: false }, content.component_type)
    const component = content.component_id
    const before = await activeVersion(tx, user, component)
    return { kind: 'component', component, before, after: await addVersion(tx, user, content, now) }
  },

  /** Activates the previous version. Faults: `conflict` if another one is active meanwhile, `gone`, `forbidden`. */
  async undo(
    tx: Writer,
    editor: ComponentEditor,
    { component, before, after }: ComponentChange,
  ): Promise<ComponentChange> {
    const { user } = editor
    if ((await activeVersion(tx, user, component)) !== after)
      throw fault('conflict', { text: 'Another version is active now.' })
    if (before !== null)
      assertCodeAllowed(editor, (await componentVersion(tx, user, component, before))?.component_type)
    if (before === null) await deactivate(tx, user, component)
    else if (!(await activate(tx, user, component, before)))
      throw fault('gone', { text: `Version ${before} is no longer kept.` })
    return { kind: 'component', component, before: after, after: before }
  },
}
