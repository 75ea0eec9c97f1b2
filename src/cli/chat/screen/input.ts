import type { Desk } from './desk.ts'
import type { makeDrawing } from './drawing.ts'
import type { Input } from './keys.ts'
import { goTo } from './places.ts'
import { editElsewhere } from './programs.ts'
import { selectKey } from './select.ts'
import type { Terminal } from './terminal.ts'
import type { makeWriting } from './write.ts'

interface Parts {
  desk: Desk
  terminal: Terminal
  writing: ReturnType<typeof makeWriting>
  drawing: ReturnType<typeof makeDrawing>
  env: NodeJS.ProcessEnv
  /** Lets another program have the terminal, and takes it back. */
  outside: (work: () => Promise<void>) => void
  focused: (isFocused: boolean) => void
}

/** What each key does, depending on what is on the screen. */
export function makeInput(parts: Parts) {
  const { desk, terminal, writing, outside } = parts
  const { composer } = desk
  /** The key before, for those that mean something only after another. */
  let before = ''

  function text(typed: string, pasted: boolean): void {
    const { mode } = desk
    if (mode.kind === 'list') mode.list.filter.insert(typed.split(/[\r\n]/)[0]!)
    else if (mode.kind === 'confirm') {
      desk.write()
      if (typed.toLowerCase() === 'y') mode.yes()
    } else if (mode.kind === 'help') desk.write()
    else if (mode.kind === 'select') selectKey(desk, typed)
    else if (typed === '?' && composer.text() === '' && !desk.purpose) desk.mode = { kind: 'help', top: 0 }
    else writing.text(typed, pasted)
  }

  function interrupt(again: boolean): void {
    if (desk.mode.kind !== 'write') desk.write()
    else if (desk.purpose) desk.end()
    else if (composer.text() !== '') composer.set('')
    else if (again) desk.quit()
    else desk.say('Ctrl-C once more leaves the chat.')
  }

  function listKey(key: string): void {
    if (desk.mode.kind !== 'list') return
    const { list } = desk.mode
    if (key === 'escape' || key === 'ctrl-g') desk.write()
    else if (key === 'enter') {
      const item = list.chosen()
      desk.write()
      item?.choose()
    } else list.key(key)
  }

  function helpKey(key: string): void {
    const by = { up: -1, down: 1, pageup: -10, pagedown: 10 }[key]
    if (by === undefined || desk.mode.kind !== 'help') desk.write()
    else desk.mode.top = Math.max(0, desk.mode.top + by)
  }

  function key(name: string, last: string): void {
    if (name === 'ctrl-c') interrupt(last === 'ctrl-c' && desk.notice !== undefined)
    else if (name === 'ctrl-e' && last === 'ctrl-x')
      outside(async () => composer.set(await editElsewhere(composer.text(), parts.env)))
    else if (name === 'ctrl-l') terminal.forget()
    else if (name === 'ctrl-z') outside(suspend)
    else if (desk.mode.kind === 'list') listKey(name)
    else if (desk.mode.kind === 'help') helpKey(name)
    else if (desk.mode.kind === 'confirm') desk.write()
    else if (!selectKey(desk, name) && !everywhere(parts, name)) writing.key(name)
  }

  return (input: Input): void => {
    if ('focused' in input) return parts.focused(input.focused)
    const last = before
    before = 'key' in input ? input.key : ''
    if (before !== 'ctrl-c') desk.notice = undefined
    if ('text' in input) text(input.text, input.pasted)
    else key(input.key, last)
  }
}

/** Until the program has stopped, milliseconds. */
const STOPPING_MS = 100

/** Back to the shell until it says to go on. Where there is none that could, the system does not stop it, and it goes on at once. */
async function suspend(): Promise<void> {
  process.kill(process.pid, 'SIGTSTP')
  await new Promise((resolve) => setTimeout(resolve, STOPPING_MS))
}

function step(desk: Desk, by: number): void {
  const { rooms, current } = desk.session.state
  const at = rooms.findIndex(({ room_id }) => room_id === current)
  const next = rooms[(at + by + rooms.length) % rooms.length]
  if (next) desk.open(next.room_id)
}

function nextUnread(desk: Desk): void {
  const { rooms, current, unread, mentions } = desk.session.state
  const waiting = rooms.filter(({ room_id }) => room_id !== current && (unread.get(room_id) ?? 0) > 0)
  const next = waiting.find(({ room_id }) => mentions.has(room_id)) ?? waiting[0]
  if (next) desk.open(next.room_id)
  else desk.say('Nothing is unread elsewhere.')
}

/** Keys that mean the same whether something is written or chosen; false for all others. */
function everywhere({ desk, drawing }: Parts, key: string): boolean {
  const isEmpty = desk.composer.text() === ''
  const known: Record<string, () => void> = {
    f1: () => (desk.mode = { kind: 'help', top: 0 }),
    'alt-up': () => step(desk, -1),
    'alt-down': () => step(desk, 1),
    'alt-a': () => nextUnread(desk),
    'ctrl-g': () => goTo(desk),
    'ctrl-f': () => desk.begin({ kind: 'search', message: undefined, label: 'Search in all rooms: Esc ends' }, ''),
    pageup: () => drawing.scroll(1),
    pagedown: () => drawing.scroll(-1),
    'ctrl-d': () => (isEmpty ? desk.quit() : desk.composer.key('delete')),
    ...(isEmpty ? { end: () => (desk.scroll = 0) } : {}),
  }
  const number = /^alt-([1-9])$/.exec(key)?.[1]
  const room = number === undefined ? undefined : desk.session.state.rooms[Number(number) - 1]
  if (room) desk.open(room.room_id)
  if (!Object.hasOwn(known, key)) return number !== undefined
  known[key]!()
  return true
}
