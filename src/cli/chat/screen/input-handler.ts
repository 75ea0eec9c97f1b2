import type { ScreenState } from './screen-state.ts'
import type { makeRenderer } from './renderer.ts'
import type { Input } from './key-input.ts'
import { pickRoom } from './pickers.ts'
import { editInEditor } from './external-programs.ts'
import { selectKey } from './select-mode.ts'
import type { Terminal } from './terminal.ts'
import type { makeComposeMode } from './compose-mode.ts'

interface Parts {
  screen: ScreenState
  terminal: Terminal
  composeMode: ReturnType<typeof makeComposeMode>
  renderer: ReturnType<typeof makeRenderer>
  env: NodeJS.ProcessEnv
  /** Gives the terminal to another program, and takes it over again afterwards. */
  runOutside: (work: () => Promise<void>) => void
  focused: (isFocused: boolean) => void
}

/** Handles keys by the current mode. */
export function makeInputHandler(parts: Parts) {
  const { screen, terminal, composeMode, runOutside } = parts
  const { composer } = screen
  /** The previous key, for sequences of two. */
  let before = ''

  function text(typed: string, pasted: boolean): void {
    const { mode } = screen
    if (mode.kind === 'list') mode.list.filter.insert(typed.split(/[\r\n]/)[0]!)
    else if (mode.kind === 'confirm') {
      screen.write()
      if (typed.toLowerCase() === 'y') mode.yes()
    } else if (mode.kind === 'help') screen.write()
    else if (mode.kind === 'select') selectKey(screen, typed)
    else if (typed === '?' && composer.text() === '' && !screen.purpose) screen.mode = { kind: 'help', top: 0 }
    else composeMode.text(typed, pasted)
  }

  function interrupt(again: boolean): void {
    if (screen.mode.kind !== 'write') screen.write()
    else if (screen.purpose) screen.endPurpose()
    else if (composer.text() !== '') composer.set('')
    else if (again) screen.quit()
    else screen.notify('Press Ctrl-C again to quit.')
  }

  function listKey(key: string): void {
    if (screen.mode.kind !== 'list') return
    const { list } = screen.mode
    if (key === 'escape' || key === 'ctrl-g') screen.write()
    else if (key === 'enter') {
      const item = list.chosen()
      screen.write()
      item?.choose()
    } else list.key(key)
  }

  function helpKey(key: string): void {
    const by = { up: -1, down: 1, pageup: -10, pagedown: 10 }[key]
    if (by === undefined || screen.mode.kind !== 'help') screen.write()
    else screen.mode.top = Math.max(0, screen.mode.top + by)
  }

  function key(name: string, last: string): void {
    if (name === 'ctrl-c') interrupt(last === 'ctrl-c' && screen.notice !== undefined)
    else if (name === 'ctrl-e' && last === 'ctrl-x')
      runOutside(async () => composer.set(await editInEditor(composer.text(), parts.env)))
    else if (name === 'ctrl-l') terminal.forget()
    else if (name === 'ctrl-z') runOutside(suspend)
    else if (screen.mode.kind === 'list') listKey(name)
    else if (screen.mode.kind === 'help') helpKey(name)
    else if (screen.mode.kind === 'confirm') screen.write()
    else if (!selectKey(screen, name) && !globalKey(parts, name)) composeMode.key(name)
  }

  return (input: Input): void => {
    if ('focused' in input) return parts.focused(input.focused)
    const last = before
    before = 'key' in input ? input.key : ''
    if (before !== 'ctrl-c') screen.notice = undefined
    if ('text' in input) text(input.text, input.pasted)
    else key(input.key, last)
  }
}

/** Time until the process has stopped, ms. */
const STOPPING_MS = 100

/** Suspends the process until SIGCONT. Without job control it is not stopped and continues at once. */
async function suspend(): Promise<void> {
  process.kill(process.pid, 'SIGTSTP')
  await new Promise((resolve) => setTimeout(resolve, STOPPING_MS))
}

function step(screen: ScreenState, by: number): void {
  const { rooms, current } = screen.session.state
  const at = rooms.findIndex(({ room_id }) => room_id === current)
  const next = rooms[(at + by + rooms.length) % rooms.length]
  if (next) screen.open(next.room_id)
}

function nextUnread(screen: ScreenState): void {
  const { rooms, current, unread, mentions } = screen.session.state
  const waiting = rooms.filter(({ room_id }) => room_id !== current && (unread.get(room_id) ?? 0) > 0)
  const next = waiting.find(({ room_id }) => mentions.has(room_id)) ?? waiting[0]
  if (next) screen.open(next.room_id)
  else screen.notify('There are no other unread messages.')
}

/** Handles keys with the same meaning in every mode; false for all others. */
function globalKey({ screen, renderer }: Parts, key: string): boolean {
  const isEmpty = screen.composer.text() === ''
  const known: Record<string, () => void> = {
    f1: () => (screen.mode = { kind: 'help', top: 0 }),
    'alt-up': () => step(screen, -1),
    'alt-down': () => step(screen, 1),
    'alt-a': () => nextUnread(screen),
    'ctrl-g': () => pickRoom(screen),
    'ctrl-f': () =>
      screen.beginPurpose({ kind: 'search', message: undefined, label: 'Search in all rooms: Esc ends' }, ''),
    pageup: () => renderer.scroll(1),
    pagedown: () => renderer.scroll(-1),
    'ctrl-d': () => (isEmpty ? screen.quit() : screen.composer.key('delete')),
    ...(isEmpty ? { end: () => (screen.scroll = 0) } : {}),
  }
  const number = /^alt-([1-9])$/.exec(key)?.[1]
  const room = number === undefined ? undefined : screen.session.state.rooms[Number(number) - 1]
  if (room) screen.open(room.room_id)
  if (!Object.hasOwn(known, key)) return number !== undefined
  known[key]!()
  return true
}
