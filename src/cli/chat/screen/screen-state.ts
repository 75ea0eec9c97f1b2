import { printable } from '../../../base/text.ts'
import type { ChatRoom } from '../../../client/chat/room-names.ts'
import type { ChatSession } from '../../../client/chat/session.ts'
import type { Pending } from '../../../client/chat/state.ts'
import { Unreachable } from '../../../client/errors.ts'
import { isFault } from '../../../contract/errors.ts'
import { Exit } from '../../exit.ts'
import { errorMessage } from '../../error-message.ts'
import { makeComposer, type Composer } from './composer.ts'
import type { SelectList } from './select-list.ts'
import type { Span } from './spans.ts'

/** What keys mean at the moment. */
export type Mode =
  | { kind: 'write' }
  | { kind: 'select'; message: number }
  | { kind: 'list'; list: SelectList }
  | { kind: 'help'; top: number }
  | { kind: 'confirm'; question: string; yes: () => void }

/** What the text is written for, other than being sent; `kept` is what was being written before. */
export interface Purpose {
  kind: 'edit' | 'reply' | 'react' | 'search'
  message: number | undefined
  label: string
  draft: string
}

/** The screen as its parts share it. */
export interface ScreenState {
  session: ChatSession
  composer: Composer
  mode: Mode
  purpose: Purpose | undefined
  /** What was said in the last line; until the next key. */
  notice: Span | undefined
  /** Lines of the history that are hidden below the bottom. */
  scroll: number
  notify: (text: string, kind?: 'error') => void
  /** Does something that takes a while, and says why when it fails. */
  runTask: (work: () => Promise<void>) => void
  room: () => ChatRoom | undefined
  /** Opens a room; what was being written stays with the other one. */
  open: (room: number) => void
  show: (list: SelectList) => void
  /** Goes back to writing. */
  write: () => void
  beginPurpose: (purpose: Omit<Purpose, 'draft'>, text: string) => void
  /** Ends a purpose; what was being written before is there again. */
  endPurpose: () => void
  /** Gives a message that was refused back to whoever wrote it. */
  restoreRejected: (pending: Pending, error: Error) => void
  quit: () => void
}

interface ScreenStateOptions {
  session: ChatSession
  draw: () => void
  quit: () => void
  /** Told of what is a bug. */
  failed: (error: unknown) => void
}

/** Errors that somebody can do something about; anything else is a bug and ends the program. */
const isUserError = (error: unknown): boolean =>
  isFault(error) ||
  error instanceof Exit ||
  error instanceof Unreachable ||
  typeof (error as NodeJS.ErrnoException | null)?.code === 'string'

/** A screen with nothing on it. */
export function makeScreenState({ session, draw, quit, failed }: ScreenStateOptions): ScreenState {
  const { state } = session
  const composer = makeComposer()
  /** What was being written in rooms that are not open. */
  const drafts = new Map<number, string>()
  /** The room whose draft is being written. */
  let at: number | undefined

  const screen: ScreenState = {
    session,
    composer,
    mode: { kind: 'write' },
    purpose: undefined,
    notice: undefined,
    scroll: 0,
    quit,
    notify(text, kind) {
      screen.notice = { text: ` ${printable(text)}`, ...(kind === 'error' ? { color: 'red' } : {}) }
      draw()
    },
    runTask(work) {
      work().then(draw, (error: unknown) => {
        if (isUserError(error)) screen.notify(errorMessage(error), 'error')
        else failed(error)
      })
    },
    room: () => state.rooms.find(({ room_id }) => room_id === state.current),
    open(room) {
      screen.write()
      if (room !== at) {
        if (at !== undefined) drafts.set(at, screen.purpose ? screen.purpose.draft : composer.text())
        screen.purpose = undefined
        screen.scroll = 0
        composer.set(drafts.get(room) ?? '')
        at = room
      }
      session.open(room)
    },
    show: (list) => void (screen.mode = { kind: 'list', list }),
    write: () => void (screen.mode = { kind: 'write' }),
    beginPurpose(purpose, text) {
      screen.write()
      screen.purpose = { ...purpose, draft: screen.purpose ? screen.purpose.draft : composer.text() }
      composer.set(text)
    },
    endPurpose() {
      if (screen.purpose && screen.purpose.kind !== 'reply') composer.set(screen.purpose.draft)
      screen.purpose = undefined
    },
    restoreRejected({ room_id, content }, error) {
      screen.notify(`Not sent: ${errorMessage(error)}`, 'error')
      if (room_id === at && composer.text() === '') composer.set(content)
      else if (!drafts.get(room_id)) drafts.set(room_id, content)
    },
  }
  return screen
}
