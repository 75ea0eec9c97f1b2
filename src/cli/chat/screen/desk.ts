import { printable } from '../../../base/text.ts'
import type { ChatRoom } from '../../../client/chat/room-names.ts'
import type { ChatSession } from '../../../client/chat/session.ts'
import type { Pending } from '../../../client/chat/state.ts'
import { Unreachable } from '../../../client/errors.ts'
import { isFault } from '../../../contract/errors.ts'
import { Exit } from '../../exit.ts'
import { errorMessage } from '../../error-message.ts'
import { makeComposer, type Composer } from './composer.ts'
import type { List } from './list.ts'
import type { Span } from './spans.ts'

/** What keys mean at the moment. */
export type Mode =
  | { kind: 'write' }
  | { kind: 'select'; message: number }
  | { kind: 'list'; list: List }
  | { kind: 'help'; top: number }
  | { kind: 'confirm'; question: string; yes: () => void }

/** What the text is written for, other than being sent; `kept` is what was being written before. */
export interface Purpose {
  kind: 'edit' | 'reply' | 'react' | 'search'
  message: number | undefined
  label: string
  kept: string
}

/** The screen as its parts share it. */
export interface Desk {
  session: ChatSession
  composer: Composer
  mode: Mode
  purpose: Purpose | undefined
  /** What was said in the last line; until the next key. */
  notice: Span | undefined
  /** Lines of the history that are hidden below the bottom. */
  scroll: number
  say: (text: string, kind?: 'error') => void
  /** Does something that takes a while, and says why when it fails. */
  doing: (work: () => Promise<void>) => void
  room: () => ChatRoom | undefined
  /** Opens a room; what was being written stays with the other one. */
  open: (room: number) => void
  show: (list: List) => void
  /** Goes back to writing. */
  write: () => void
  begin: (purpose: Omit<Purpose, 'kept'>, text: string) => void
  /** Ends a purpose; what was being written before is there again. */
  end: () => void
  /** Gives a message that was refused back to whoever wrote it. */
  giveBack: (pending: Pending, error: Error) => void
  quit: () => void
}

interface DeskParts {
  session: ChatSession
  draw: () => void
  quit: () => void
  /** Told of what is a bug. */
  failed: (error: unknown) => void
}

/** Errors that somebody can do something about; anything else is a bug and ends the program. */
const isTheirs = (error: unknown): boolean =>
  isFault(error) ||
  error instanceof Exit ||
  error instanceof Unreachable ||
  typeof (error as NodeJS.ErrnoException | null)?.code === 'string'

/** A desk with nothing on it. */
export function makeDesk({ session, draw, quit, failed }: DeskParts): Desk {
  const { state } = session
  const composer = makeComposer()
  /** What was being written in rooms that are not open. */
  const drafts = new Map<number, string>()
  /** The room whose draft is being written. */
  let at: number | undefined

  const desk: Desk = {
    session,
    composer,
    mode: { kind: 'write' },
    purpose: undefined,
    notice: undefined,
    scroll: 0,
    quit,
    say(text, kind) {
      desk.notice = { text: ` ${printable(text)}`, ...(kind === 'error' ? { color: 'red' } : {}) }
      draw()
    },
    doing(work) {
      work().then(draw, (error: unknown) => {
        if (isTheirs(error)) desk.say(errorMessage(error), 'error')
        else failed(error)
      })
    },
    room: () => state.rooms.find(({ room_id }) => room_id === state.current),
    open(room) {
      desk.write()
      if (room !== at) {
        if (at !== undefined) drafts.set(at, desk.purpose ? desk.purpose.kept : composer.text())
        desk.purpose = undefined
        desk.scroll = 0
        composer.set(drafts.get(room) ?? '')
        at = room
      }
      session.open(room)
    },
    show: (list) => void (desk.mode = { kind: 'list', list }),
    write: () => void (desk.mode = { kind: 'write' }),
    begin(purpose, text) {
      desk.write()
      desk.purpose = { ...purpose, kept: desk.purpose ? desk.purpose.kept : composer.text() }
      composer.set(text)
    },
    end() {
      if (desk.purpose && desk.purpose.kind !== 'reply') composer.set(desk.purpose.kept)
      desk.purpose = undefined
    },
    giveBack({ room_id, content }, error) {
      desk.say(`Not sent: ${errorMessage(error)}`, 'error')
      if (room_id === at && composer.text() === '') composer.set(content)
      else if (!drafts.get(room_id)) drafts.set(room_id, content)
    },
  }
  return desk
}
