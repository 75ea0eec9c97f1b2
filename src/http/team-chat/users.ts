import { teamChat } from '../../contract/team-chat.ts'
import { handle } from '../handler.ts'

export const users = handle(teamChat.actions.users, async ({ domain }) => ({ users: await domain.chat.users() }))
