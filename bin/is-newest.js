import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'

/**
 * Whether a file is newer than all of these files and folders, by name under `root`, and than everything in them. `npx svc` in a
 * clone runs `prepare` once more, to link the package: a second build would keep whoever starts svc for the first time waiting.
 */
export function isNewest(file, root, names) {
  const at = modified(file)
  // The time of a folder changes with what is added, renamed and removed in it.
  const isOlder = (path) => (modified(path) ?? 0) < at
  return at !== undefined && names.every((name) => entriesOf(join(root, name)).every(isOlder))
}

/** Milliseconds since the epoch; undefined where nothing is. */
function modified(path) {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs
}

function entriesOf(path) {
  const isFolder = statSync(path, { throwIfNoEntry: false })?.isDirectory()
  return isFolder ? [path, ...readdirSync(path, { recursive: true }).map((name) => join(path, name))] : [path]
}
