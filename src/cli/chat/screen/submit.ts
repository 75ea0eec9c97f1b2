import { teamChat } from '../../../contract/team-chat.ts'
import type { Desk, Purpose } from './desk.ts'
import { search } from './places.ts'
import { runSlash } from './slash.ts'

/** Largest message, in bytes. */
const MOST = 16_384

/** Does with the text what it was written for: sends it, changes a message, reacts, searches, or carries a command out. */
export function submit(desk: Desk): void {
  const { session, composer, purpose } = desk
  const text = composer.text()
  if (text.trim() === '') return
  if (purpose?.kind === 'search') {
    desk.end()
    return desk.doing(() => search(desk, text.trim()))
  }
  if (purpose?.kind === 'react') return react(desk, purpose, text.trim())
  if (!purpose && /^\/[a-z]*(\s|$)/.test(text)) return runSlash(desk, text)
  const content = text.startsWith('//') ? text.slice(1) : text
  if (Buffer.byteLength(content) > MOST)
    return desk.say(`This is longer than a message can be (${MOST} bytes): shorten it, or /upload a file.`, 'error')
  if (purpose?.kind === 'edit') return edit(desk, purpose, content)
  if (session.state.current === undefined) return desk.say('No room is open: Ctrl-G goes to one.', 'error')
  session.post(content, purpose?.message)
  desk.purpose = undefined
  desk.scroll = 0
  composer.set('')
}

function edit(desk: Desk, purpose: Purpose, content: string): void {
  const params = { message_id: purpose.message!, content }
  desk.doing(async () => {
    await desk.session.api.call(teamChat.actions.edit, params, { repeatable: true })
    if (desk.purpose === purpose) desk.end()
  })
}

function react(desk: Desk, purpose: Purpose, text: string): void {
  desk.doing(async () => {
    const { emojiNamed } = await import('../../../client/chat/emoji.ts')
    const emoji = emojiNamed(text)
    if (/^[ -~]*$/.test(emoji)) return desk.say(`There is no emoji called "${text}".`, 'error')
    await desk.session.api.call(teamChat.actions.react, { message_id: purpose.message!, emoji })
    if (desk.purpose === purpose) desk.end()
  })
}
