import type { AnswerOf } from '../../wire/actions.ts'

/** An account as administrators see it. */
export type User = AnswerOf<'admin.user'>['user']

export interface UserDialogProps {
  user: User
  onClose: () => void
  onDone: () => Promise<void>
}
