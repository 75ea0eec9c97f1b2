import { teamChat } from '../../contract/team-chat.ts'
import { handle } from '../handler.ts'

export const online = handle(teamChat.actions.online, async ({ domain }) => ({ users: await domain.chat.online() }))
