import { bridge } from '../../kit/bridge.ts'
import { confirm } from '../../kit/dialog.tsx'
import { toastError } from '../../kit/toast.tsx'
import { common } from '../../kit/words.ts'
import { removeMessage, replace } from './message-log.ts'
import type { Message } from './store.ts'
import { words } from './words.ts'

/** Toggles a reaction. */
export async function react(message: Message, emoji: string): Promise<void> {
  const { message_id, room_id } = message
  try {
    const { reactions } = await bridge.call('teamChat.react', { message_id, emoji })
    replace(room_id, [{ ...message, reactions }])
  } catch (error) {
    toastError(error)
  }
}

/** Asks for confirmation and deletes a message for everyone. */
export async function confirmAndDelete({ message_id, room_id }: Message): Promise<void> {
  const texts = { title: words('delete_title'), text: words('delete_text'), action: common('delete') }
  if (!(await confirm({ ...texts, danger: true }))) return
  try {
    await bridge.call('teamChat.delete', { message_id })
    removeMessage(room_id, message_id)
  } catch (error) {
    toastError(error)
  }
}
