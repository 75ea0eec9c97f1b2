import { activeComponent, newestVersion, type StoredComponent } from '../../storage/desktop/components.ts'
import { rememberSeeded, type Seeded } from '../../storage/instance/seeded.ts'
import { addVersion, readComponent, type NewComponent } from '../desktop/desktop.ts'
import { hashOf, personOf, remember, seededBefore, SourceError } from './seed-context.ts'
import type { Item, Part, Person, Planning } from './seed-context.ts'
import { objection, type Path } from './problems.ts'
import type { SeedComponent } from './seed-schema.ts'

interface Task {
  person: Person
  component: NewComponent
  hash: string
}

const COMPONENT = 'component'

type Decision = Item['action'] | 'same' | 'adopt'

/** Created once, and updated when the seed changes, unless someone else has saved a version. */
export async function planComponents(planning: Planning): Promise<Part> {
  const items: Item[] = []
  const tasks: Task[] = []
  const adopted: Task[] = []
  let unchanged = 0
  for (const { path, value: user } of planning.seed.users) {
    const person = personOf(planning, user)
    for (const [place, given] of (user.components ?? []).entries()) {
      const component = await complete(planning, given, [...path, 'components', place])
      if (!component) continue
      const task = { person, component, hash: hashOf(component) }
      const { action, why = '' } = await decide(planning, task)
      if (action === 'same' || action === 'adopt') unchanged += 1
      else items.push({ action, kind: 'component', text: `component ${given.id} of ${person.username}${why}` })
      if (action === 'adopt') adopted.push(task)
      if (action === 'add' || action === 'change') tasks.push(task)
    }
  }
  return {
    items,
    unchanged,
    async apply(watcher) {
      for (const task of adopted) await remember(planning, task.person, [await entryOf(planning, task)])
      for (const task of tasks) {
        await save(planning, task)
        watcher.done(1)
      }
    },
  }
}

/** Loads the component's code if it is in a file. */
async function complete(
  { sources, problems }: Planning,
  { id, type, code, from, metadata = {} }: SeedComponent,
  path: Path,
): Promise<NewComponent | undefined> {
  const make = (text: string) => ({ component_id: id, component_type: type, code: text, metadata })
  // Invalid inline code was reported before.
  if (code !== undefined) return objection(() => readComponent(make(code))) === undefined ? make(code) : undefined
  if (from === undefined) return undefined
  try {
    const component = make(await textOf(sources.read(from)))
    const message = objection(() => readComponent(component))
    if (message === undefined) return component
    problems.push({ path: [...path, 'from'], message })
    return undefined
  } catch (error) {
    if (!(error instanceof SourceError)) throw error
    problems.push({ path: [...path, 'from'], message: error.message })
    return undefined
  }
}

const MAX_BYTES = 1_048_576

async function textOf(source: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of source) {
    chunks.push(chunk)
    size += chunk.length
    if (size > MAX_BYTES) throw new SourceError('is too large to be the code of a component')
  }
  return Buffer.concat(chunks).toString('utf8')
}

async function decide(
  { database }: Planning,
  { person, component, hash }: Task,
): Promise<{ action: Decision; why?: string }> {
  if (person.id === undefined) return { action: 'add' }
  const before = seededBefore(person, COMPONENT, component.component_id)
  if (before?.hash === hash) return { action: 'same' }
  const newest = await newestVersion(database.read, person.id, component.component_id)
  const active = await activeComponent(database.read, person.id, component.component_id)
  if (active && isSame(active, component)) return { action: 'adopt' }
  if (!before) return newest === 0 ? { action: 'add' } : { action: 'keep', why: ': was there before' }
  if (newest === before.version && active?.version === newest) return { action: 'change' }
  return { action: 'keep', why: ': was changed by its owner' }
}

function isSame(active: StoredComponent, component: NewComponent): boolean {
  const { component_type, code, metadata } = readComponent(component)
  return active.component_type === component_type && active.code === code && active.metadata === metadata
}

async function entryOf({ database }: Planning, { person, component, hash }: Task): Promise<Seeded> {
  const version = await newestVersion(database.read, person.id!, component.component_id)
  return { kind: COMPONENT, key: component.component_id, hash, target: null, version }
}

const save = ({ database, clock }: Planning, { person, component, hash }: Task): Promise<void> =>
  database.write('instance', async (tx) => {
    const version = await addVersion(tx, person.id!, readComponent(component), clock.now())
    await rememberSeeded(tx, person.id!, [
      { kind: COMPONENT, key: component.component_id, hash, target: null, version },
    ])
  })
