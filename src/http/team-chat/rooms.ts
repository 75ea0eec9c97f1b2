import { teamChat } from '../../contract/team-chat.ts'
import { handle } from '../handler.ts'
import { serializeLong } from '../json-serializer.ts'

export const rooms = handle(teamChat.actions.rooms, async ({ caller, domain }) => ({
  rooms: await serializeLong(await domain.chat.rooms(caller.user.id)),
}))
