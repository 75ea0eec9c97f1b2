import type { Span } from './spans.ts'

const KEYS: readonly (readonly [keys: string, what: string])[] = [
  ['Enter', 'send'],
  ['Alt-Enter, Ctrl-J', 'new line'],
  ['Ctrl-X Ctrl-E', 'write in $EDITOR'],
  ['Tab', 'complete @name, :emoji and /command'],
  ['', ''],
  ['Alt-Up, Alt-Down', 'room above, room below'],
  ['Alt-1 … Alt-9', 'that room of the list'],
  ['Alt-a', 'next room with something unread'],
  ['Ctrl-G', 'open a room or conversation by name'],
  ['Ctrl-F', 'search'],
  ['', ''],
  ['PageUp, PageDown', 'older, newer messages'],
  ['End *', 'back to the newest'],
  ['', ''],
  ['Up *', 'edit your last message'],
  ['Tab *, Shift-Up', 'select a message, and then'],
  ['  Up, Down', 'another one'],
  ['  r  e  d  +', 'reply, edit, delete, react'],
  ['', ''],
  ['Ctrl-L', 'redraw the screen'],
  ['Ctrl-Z', 'suspend to the shell'],
  ['Ctrl-C', 'clear the text; twice, or Ctrl-D: quit'],
]

export const helpLines = (commands: readonly { usage: string; summary: string }[]): Span[][] => [
  [
    { text: 'Keys', bold: true },
    { text: '  (* while the text is empty)', dim: true },
  ],
  ...KEYS.map(([keys, what]) => row(keys, what)),
  [],
  [{ text: 'Commands', bold: true }],
  ...commands.map(({ usage, summary }) => row(usage, summary)),
  row('//text', 'a message that begins with a /'),
  [],
  [{ text: 'Esc closes this.', dim: true }],
]

const row = (left: string, right: string): Span[] => [{ text: `  ${left.padEnd(24)}`, color: 'cyan' }, { text: right }]
