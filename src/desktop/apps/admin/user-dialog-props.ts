import type { AnswerOf } from '../../wire/actions.ts'

/** An account with all that administrators are shown of it. */
export type User = AnswerOf<'admin.user'>['user']

/** What a dialog about an account is given. */
export interface UserDialogProps {
  user: User
  onClose: () => void
  onDone: () => Promise<void>
}
