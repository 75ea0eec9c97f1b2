import { fault } from '../../contract/errors.ts'
import { activate, activeComponent, componentVersion, deactivate } from '../../storage/desktop/components.ts'
import type { Writer } from '../../storage/engine/database.ts'
import { addVersion, assertMayRun, readComponent, type Author, type NewComponent } from './components.ts'

/** Another version of a component came into force; null where none was, or is. */
export interface ComponentChange {
  kind: 'component'
  component: string
  before: number | null
  after: number | null
}

export const isComponentChange = (change: { kind: string }): change is ComponentChange => change.kind === 'component'

const activeVersion = async (tx: Writer, user: number, component: string): Promise<number | null> =>
  (await activeComponent(tx, user, component))?.version ?? null

/** Changes of components that can be taken back, each one step of a transaction. */
export const undoableComponents = {
  /** Stores a version and makes it the active one. Faults: `bad_request`, `quota_exceeded`. */
  async save(tx: Writer, user: number, given: NewComponent, now: number): Promise<ComponentChange> {
    const content = readComponent(given)
    // Whatever a model was talked into, it brings no scripts.
    assertMayRun({ user, allowsCode: false }, content.component_type)
    const component = content.component_id
    const before = await activeVersion(tx, user, component)
    return { kind: 'component', component, before, after: await addVersion(tx, user, content, now) }
  },

  /** Puts the version in force that was before. Faults: `conflict` when another is in force by now, `gone`, `forbidden`. */
  async takeBack(tx: Writer, author: Author, { component, before, after }: ComponentChange): Promise<ComponentChange> {
    const { user } = author
    if ((await activeVersion(tx, user, component)) !== after)
      throw fault('conflict', { text: 'Another version is in force by now.' })
    if (before !== null) assertMayRun(author, (await componentVersion(tx, user, component, before))?.component_type)
    if (before === null) await deactivate(tx, user, component)
    else if (!(await activate(tx, user, component, before)))
      throw fault('gone', { text: `Version ${before} is not kept any more.` })
    return { kind: 'component', component, before: after, after: before }
  },
}
