import type { SavedState, UnfinishedRewind } from '../../domain/rewind/rewind.ts'
import type { Globals } from '../command.ts'
import { Exit } from '../exit.ts'
import { commandLine } from '../../base/shell-words.ts'
import { formatTime } from '../time-format.ts'

// Rewinds that were interrupted, and what `latest` must not mean.

/** What an interrupted rewind leaves to do, for people. */
export function interruptedText(globals: Globals, username: string, unfinished: UnfinishedRewind): string {
  const [to, since] = [unfinished.moment, unfinished.started_at].map((time) => formatTime(Date.parse(time), true))
  return (
    `A rewind of ${username} to ${to}, which began at ${since}, was interrupted. ` +
    `To complete it: ${commandLine(globals, unfinished.complete)}. To undo it: ${commandLine(globals, unfinished.undo)}.`
  )
}

/** Refuses `latest` after an interruption: the newest backup is probably the one that the rewind made. */
export function refuseLatest(globals: Globals, username: string, unfinished: UnfinishedRewind): never {
  throw new Exit(6, `${interruptedText(globals, username, unfinished)} "latest" is refused until then.`, 'interrupted')
}

/** Refuses a state that the interrupted rewind left behind, such as the end of a stream; the one that it saved is none. */
export function assertNotLeftBehind(
  globals: Globals,
  username: string,
  unfinished: UnfinishedRewind,
  { at, id }: { at: number; id: string },
): void {
  if (at < Date.parse(unfinished.started_at) || id === unfinished.saved.id) return
  throw new Exit(
    6,
    `${interruptedText(globals, username, unfinished)} A state after its beginning is incomplete too and is refused until then; an earlier one is not.`,
    'interrupted',
  )
}

/** Refuses `latest` if it is a backup that a rewind of this account made. */
export function assertNotSaved(globals: Globals, id: string, saves: readonly SavedState[]): void {
  const save = saves.find((one) => one.id === id)
  if (!save) return
  const moment = formatTime(Date.parse(save.moment), true)
  throw new Exit(
    8,
    `The latest backup, ${id}, is the state before the rewind to ${moment}. To undo that rewind: ` +
      `${commandLine(globals, save.undo)}. For an earlier state, give the id of another backup.`,
    'ambiguous',
  )
}
