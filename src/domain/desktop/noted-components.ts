import { fault } from '../../contract/errors.ts'
import { activate, activeComponent, deactivate } from '../../storage/components.ts'
import type { Writer } from '../../storage/database.ts'
import { addVersion, readComponent, type NewComponent } from './components.ts'

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
export const notedComponents = {
  /** Stores a version and makes it the active one. Faults: `bad_request`, `quota_exceeded`. */
  async save(tx: Writer, user: number, given: NewComponent, now: number): Promise<ComponentChange> {
    const content = readComponent(given)
    const component = content.component_id
    const before = await activeVersion(tx, user, component)
    return { kind: 'component', component, before, after: await addVersion(tx, user, content, now) }
  },

  /** Puts the version in force that was before. Faults: `conflict` when another is in force by now, `gone`. */
  async takeBack(tx: Writer, user: number, { component, before, after }: ComponentChange): Promise<ComponentChange> {
    if ((await activeVersion(tx, user, component)) !== after)
      throw fault('conflict', { text: 'Another version is in force by now.' })
    if (before === null) await deactivate(tx, user, component)
    else if (!(await activate(tx, user, component, before)))
      throw fault('gone', { text: `Version ${before} is not kept any more.` })
    return { kind: 'component', component, before: after, after: before }
  },
}
