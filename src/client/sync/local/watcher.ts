import { lstatSync, readdirSync, watch, type FSWatcher } from 'node:fs'
import { join, sep } from 'node:path'
import { errorCode } from '../../../base/errors.ts'
import { OWN_FOLDER } from '../plan/reserved-paths.ts'
import type { ChangeHint } from './debounce.ts'

interface Listener {
  onChange: (sign: ChangeHint) => void
  /** The system cannot watch another folder: its changes are found by full runs only. */
  onWatchFailure: (error: Error) => void
}

/**
 * Watches a folder tree without following links. Events are hints: some are lost, some mean nothing. On Linux each
 * folder is watched by itself (inotify); other systems watch whole trees.
 */
export function watchFolder(root: string, { onChange, onWatchFailure }: Listener): { close(): void } {
  const watchers = new Map<string, FSWatcher>()
  const whole = process.platform !== 'linux'

  function open(folder: string): void {
    if (watchers.has(folder)) return
    try {
      const watcher = watch(folder, { recursive: whole }, (kind, name) => onEvent(folder, kind, name))
      watcher.on('error', () => closeBelow(folder))
      watchers.set(folder, watcher)
    } catch (error) {
      // A folder that has disappeared needs no watching; its parent reports it.
      if (!['ENOENT', 'ENOTDIR', 'EACCES'].includes(errorCode(error))) onWatchFailure(error as Error)
    }
  }

  function openTree(top: string): void {
    const waiting = [top]
    for (let folder = waiting.pop(); folder !== undefined; folder = waiting.pop()) {
      open(folder)
      if (whole) return
      for (const name of foldersIn(folder)) if (!isOwn(folder, name)) waiting.push(join(folder, name))
    }
  }

  function closeBelow(top: string): void {
    for (const [folder, watcher] of watchers) {
      if (folder !== top && !folder.startsWith(top + sep)) continue
      watcher.close()
      watchers.delete(folder)
    }
  }

  const isOwn = (folder: string, name: string): boolean => folder === root && name.split(sep, 1)[0] === OWN_FOLDER

  function onEvent(folder: string, kind: string, name: string | null): void {
    if (name === null) return onChange('edit')
    if (isOwn(folder, name)) return
    const place = join(folder, name)
    const isFolder = lstatIfThere(place)?.isDirectory()
    if (!whole && kind === 'rename') {
      // The watched folder may have been replaced by another one.
      if (watchers.has(place)) closeBelow(place)
      if (isFolder) openTree(place)
    }
    onChange(isFolder === undefined ? 'gone' : 'edit')
  }

  openTree(root)
  return {
    close() {
      for (const watcher of watchers.values()) watcher.close()
      watchers.clear()
    },
  }
}

const lstatIfThere = (place: string) => {
  try {
    return lstatSync(place, { throwIfNoEntry: false })
  } catch {
    // An inaccessible folder counts as missing for hints.
    return undefined
  }
}

function foldersIn(folder: string): string[] {
  try {
    return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => (entry.isDirectory() ? [entry.name] : []))
  } catch {
    // Missing or unreadable: the following run reports it.
    return []
  }
}
