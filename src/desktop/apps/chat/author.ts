import type { Message, Person } from './store.ts'
import { words } from './words.ts'

export const authorOf = ({ user_id, display_name, username, avatar_color, is_former }: Message): Person => ({
  id: user_id,
  display_name: is_former ? words('former_user') : display_name,
  username,
  avatar_color,
})
