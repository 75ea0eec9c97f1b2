import { createRoom } from './create-room.ts'
import { deleteMessage } from './delete.ts'
import { deleteRoom } from './delete-room.ts'
import { edit } from './edit.ts'
import { invite } from './invite.ts'
import { leave } from './leave.ts'
import { members } from './members.ts'
import { messages } from './messages.ts'
import { online } from './online.ts'
import { poll } from './poll.ts'
import { presence } from './presence.ts'
import { react } from './react.ts'
import { read } from './read.ts'
import { removeParticipant } from './remove-participant.ts'
import { renameRoom } from './rename-room.ts'
import { rooms } from './rooms.ts'
import { search } from './search.ts'
import { send } from './send.ts'
import { typing } from './typing.ts'
import { unread } from './unread.ts'
import { users } from './users.ts'

export const teamChatHandlers = [
  rooms,
  messages,
  send,
  edit,
  deleteMessage,
  poll,
  createRoom,
  deleteRoom,
  react,
  typing,
  presence,
  read,
  online,
  search,
  users,
  unread,
  members,
  invite,
  renameRoom,
  leave,
  removeParticipant,
]
