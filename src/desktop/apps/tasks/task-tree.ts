/** What connects tasks; `row` is undefined until a new task is saved. */
export interface TreeTask {
  key: string
  row: { id: number } | undefined
  uid: string | null
  parent_uid: string | null
}

export interface TaskTree<T extends TreeTask> {
  /** Tasks that are part of no other. */
  roots: readonly T[]
  parentOf: (task: T) => T | undefined
  /** In the order in which they were added. */
  childrenOf: (task: T) => readonly T[]
  /** The task that sub-tasks with this parent belong to. */
  withUid: (uid: string) => T | undefined
}

const ageOf = ({ row }: TreeTask): number => row?.id ?? Infinity

/** Removes one link of every cycle: that of its oldest task. */
function breakCycles<T extends TreeTask>(tasks: readonly T[], parents: Map<T, T>): void {
  const isSettled = new Set<T>()
  for (const start of tasks) {
    const path: T[] = []
    for (let at: T | undefined = start; at && !isSettled.has(at); at = parents.get(at)) {
      const first = path.indexOf(at)
      if (first !== -1) {
        parents.delete(path.slice(first).reduce((oldest, one) => (ageOf(one) < ageOf(oldest) ? one : oldest)))
        break
      }
      path.push(at)
    }
    for (const task of path) isSettled.add(task)
  }
}

/**
 * Arranges tasks by their parents. Every task is in the tree: one whose parent is missing is a root, and a cycle is cut.
 * Of several tasks with one UID, the oldest has the sub-tasks.
 */
export function treeOf<T extends TreeTask>(tasks: readonly T[]): TaskTree<T> {
  const ordered = tasks.toSorted((a, b) => (ageOf(a) === ageOf(b) ? 0 : ageOf(a) - ageOf(b)))
  const byUid = new Map<string, T>()
  for (const task of ordered) if (task.uid !== null && !byUid.has(task.uid)) byUid.set(task.uid, task)
  const parents = new Map<T, T>()
  for (const task of ordered) {
    const parent = task.parent_uid === null ? undefined : byUid.get(task.parent_uid)
    if (parent) parents.set(task, parent)
  }
  breakCycles(ordered, parents)
  const children = new Map<T, T[]>()
  for (const [task, parent] of parents) {
    const known = children.get(parent)
    if (known) known.push(task)
    else children.set(parent, [task])
  }
  return {
    roots: ordered.filter((task) => !parents.has(task)),
    parentOf: (task) => parents.get(task),
    childrenOf: (task) => children.get(task) ?? [],
    withUid: (uid) => byUid.get(uid),
  }
}

export interface TaskLine<T> {
  task: T
  depth: number
}

/** A task and its sub-tasks, from top to bottom. */
export function linesOf<T extends TreeTask>(tree: TaskTree<T>, root: T): TaskLine<T>[] {
  const lines: TaskLine<T>[] = []
  const waiting: TaskLine<T>[] = [{ task: root, depth: 0 }]
  for (let line = waiting.pop(); line; line = waiting.pop()) {
    lines.push(line)
    const { task, depth } = line
    waiting.push(
      ...tree
        .childrenOf(task)
        .map((child) => ({ task: child, depth: depth + 1 }))
        .toReversed(),
    )
  }
  return lines
}
