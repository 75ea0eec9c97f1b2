import { expect, test } from 'vitest'
import { emojiLike, emojiNamed } from '../../../src/client/chat/emoji.ts'
import { roomsNamed, titleOf, type ChatRoom } from '../../../src/client/chat/room-names.ts'
import { isMentioned } from '../../../src/client/chat/chat-state.ts'

const person = (id: number, username: string) => ({ id, username, display_name: username, avatar_color: '' })

const room = (room_id: number, name: string, type: ChatRoom['type'] = 'channel', ...others: string[]): ChatRoom => ({
  room_id,
  name,
  type,
  created_by: 1,
  created_at: '2026-01-01T00:00:00.000Z',
  participant_count: 1 + others.length,
  participants: [person(1, 'ada'), ...others.map((other, index) => person(2 + index, other))],
  last_message: null,
  unread_count: 0,
})

const rooms = [
  room(1, 'Engines'),
  room(2, 'engines'),
  room(3, 'Mills'),
  room(4, 'talk', 'dm', 'Bob'),
  room(5, '#7'),
  room(6, '@bobby'),
  room(8, 'Cafe\u0301'),
]

test.each([
  ['engines', [2]],
  ['ENGINES', [1, 2]],
  ['mills', [3]],
  ['#mills', [3]],
  ['#3', [3]],
  ['#7', [5]],
  ['@bob', [4]],
  ['@bobby', [6]],
  ['talk', []],
  ['café', [8]],
  ['', []],
])('%j names rooms %j', (text, wanted) => {
  expect(roomsNamed(rooms, 1, text).map(({ room_id }) => room_id)).toEqual(wanted)
})

test('a conversation is called by the other, also after they are gone', () => {
  expect(titleOf(rooms[3]!, 1)).toBe('@Bob')
  expect(titleOf(room(9, 'bob', 'dm'), 1)).toBe('bob')
})

test.each([
  ['@ada', true],
  ['Hello @ADA!', true],
  ['(@ada)', true],
  ['Ask @ada.', true],
  ['@ada.lovelace', false],
  ['@ada-2', false],
  ['@adam', false],
  ['mail@ada', false],
  ['@adam and @ada', true],
  ['ada', false],
])('%j names ada: %j', (text, wanted) => {
  expect(isMentioned(text, 'ada')).toBe(wanted)
})

test('emoji are known by name, the likeliest first', () => {
  expect(emojiNamed(':tada:')).toBe('🎉')
  expect(emojiNamed('+1')).toBe('👍')
  expect(emojiNamed('constructor')).toBe('constructor')
  expect(emojiLike('smil', 2).map(({ name }) => name)).toEqual(['smile', 'smiley'])
  expect(emojiLike('zzzz', 5)).toEqual([])
})
