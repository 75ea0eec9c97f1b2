import { printable } from '../../../base/text.ts'
import type { ChatRoom } from '../../../client/chat/room-names.ts'
import type { ChatSession } from '../../../client/chat/chat-session.ts'
import type { Pending } from '../../../client/chat/chat-state.ts'
import { Unreachable } from '../../../client/errors.ts'
import { isFault } from '../../../contract/errors.ts'
import { Exit } from '../../exit.ts'
import { errorMessage } from '../../error-message.ts'
import { makeComposer, type Composer } from './composer.ts'
import type { SelectList } from './select-list.ts'
import type { Span } from './spans.ts'

export type Mode =
  | { kind: 'write' }
  | { kind: 'select'; message: number }
  | { kind: 'list'; list: SelectList }
  | { kind: 'help'; top: number }
  | { kind: 'confirm'; question: string; yes: () => void }

/** What the text is for, other than sending it; `kept` is the draft it replaced. */
export interface Purpose {
  kind: 'edit' | 'reply' | 'react' | 'search'
  message: number | undefined
  label: string
  draft: string
}

/** State shared by the parts of the screen. */
export interface ScreenState {
  session: ChatSession
  composer: Composer
  mode: Mode
  purpose: Purpose | undefined
  /** Text of the status line until the next key. */
  notice: Span | undefined
  /** Lines of the history hidden below the bottom. */
  scroll: number
  notify: (text: string, kind?: 'error') => void
  runTask: (work: () => Promise<void>) => void
  room: () => ChatRoom | undefined
  /** Opens a room; the draft stays with the previous one. */
  open: (room: number) => void
  show: (list: SelectList) => void
  /** Returns to composing. */
  write: () => void
  beginPurpose: (purpose: Omit<Purpose, 'draft'>, text: string) => void
  endPurpose: () => void
  /** Puts a rejected message back into the text field. */
  restoreRejected: (pending: Pending, error: Error) => void
  quit: () => void
}

interface ScreenStateOptions {
  session: ChatSession
  draw: () => void
  quit: () => void
  /** Called with unexpected errors. */
  failed: (error: unknown) => void
}

/** Errors to show; anything else is a bug and ends the program. */
const isUserError = (error: unknown): boolean =>
  isFault(error) ||
  error instanceof Exit ||
  error instanceof Unreachable ||
  typeof (error as NodeJS.ErrnoException | null)?.code === 'string'

export function makeScreenState({ session, draw, quit, failed }: ScreenStateOptions): ScreenState {
  const { state } = session
  const composer = makeComposer()
  const drafts = new Map<number, string>()
  /** The room of the current draft. */
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
