import { wrap, type Span } from './spans.ts'

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

const KEYS_WIDTH = 18

export const helpLines = (commands: readonly { usage: string; summary: string }[], width: number): Span[][] => [
  [
    { text: 'Keys', bold: true },
    { text: '  (* while the text is empty)', dim: true },
  ],
  ...KEYS.flatMap(([keys, what]) => row(keys, what, width)),
  [],
  [{ text: 'Commands', bold: true }],
  ...commands.flatMap(({ usage, summary }) => row(usage, summary, width)),
  ...row('//text', 'a message that begins with a /', width),
  [],
  [{ text: 'Esc closes this.', dim: true }],
]

const row = (left: string, right: string, width: number): Span[][] =>
  wrap([{ text: right }], width - KEYS_WIDTH - 2).map((line, at) => [
    { text: `  ${(at === 0 ? left : '').padEnd(KEYS_WIDTH)}`, color: 'cyan' },
    ...line,
  ])
