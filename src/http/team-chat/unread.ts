import { teamChat } from '../../contract/team-chat.ts'
import { handle } from '../handle.ts'

export const unread = handle(teamChat.actions.unread, ({ caller, domain }) => domain.chat.unread(caller.user.id))
