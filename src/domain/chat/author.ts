/** The acting user, with the fields that a message shows. */
export interface Author {
  id: number
  username: string
  display_name: string
  avatar_color: string
  role: 'admin' | 'user'
}
