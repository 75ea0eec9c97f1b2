import { teamChat } from '../../contract/team-chat.ts'
import { handle } from '../handler.ts'

export const unread = handle(teamChat.actions.unread, ({ caller, domain }) => domain.chat.unread(caller.user.id))
