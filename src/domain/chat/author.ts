/** Who does something in a room, with what a message shows of its author. */
export interface Author {
  id: number
  username: string
  display_name: string
  avatar_color: string
  role: 'admin' | 'user'
}
