import { teamChat } from '../../../contract/team-chat.ts'
import type { ScreenState, Purpose } from './screen-state.ts'
import { searchMessages } from './pickers.ts'
import { runSlashCommand } from './slash-commands.ts'

/** Largest message, bytes. */
const MAX_BYTES = 16_384

/** Submits the text for its purpose: sends it, edits a message, reacts, searches, or runs a command. */
export function submit(screen: ScreenState): void {
  const { session, composer, purpose } = screen
  const text = composer.text()
  if (text.trim() === '') return
  if (purpose?.kind === 'search') {
    screen.endPurpose()
    return screen.runTask(() => searchMessages(screen, text.trim()))
  }
  if (purpose?.kind === 'react') return react(screen, purpose, text.trim())
  if (!purpose && /^\/[a-z]*(\s|$)/.test(text)) return runSlashCommand(screen, text)
  const content = text.startsWith('//') ? text.slice(1) : text
  if (Buffer.byteLength(content) > MAX_BYTES)
    return screen.notify(
      `This is longer than a message can be (${MAX_BYTES} bytes): shorten it, or /upload a file.`,
      'error',
    )
  if (purpose?.kind === 'edit') return edit(screen, purpose, content)
  if (session.state.current === undefined) return screen.notify('No room is open: Ctrl-G goes to one.', 'error')
  session.post(content, purpose?.message)
  screen.purpose = undefined
  screen.scroll = 0
  composer.set('')
}

function edit(screen: ScreenState, purpose: Purpose, content: string): void {
  const params = { message_id: purpose.message!, content }
  screen.runTask(async () => {
    await screen.session.api.call(teamChat.actions.edit, params, { repeatable: true })
    if (screen.purpose === purpose) screen.endPurpose()
  })
}

function react(screen: ScreenState, purpose: Purpose, text: string): void {
  screen.runTask(async () => {
    const { emojiNamed } = await import('../../../client/chat/emoji.ts')
    const emoji = emojiNamed(text)
    if (/^[ -~]*$/.test(emoji)) return screen.notify(`There is no emoji called "${text}".`, 'error')
    await screen.session.api.call(teamChat.actions.react, { message_id: purpose.message!, emoji })
    if (screen.purpose === purpose) screen.endPurpose()
  })
}
