import { cancelled, command, flag } from '../command.ts'
import { contentOf, documentOf, findRoom, nameOf } from './room-details.ts'

export const remove = command({
  name: 'room remove',
  summary: 'Remove a chat room with its messages and files permanently',
  details:
    'It disappears for all members at once, and its files no longer count towards the quotas of those who stored them.',
  needs: 'domain',
  args: { room: 'name or ID of the room' },
  flags: { dryRun: flag.switch('show what would be removed, and change nothing'), yes: flag.yes },
  examples: ['svc room remove 3', 'svc room remove Engines --dry-run', 'svc room remove Engines --yes'],
  async run({ io, domain: { chat }, args, flags }) {
    const room = await findRoom(chat, args.room)
    if (flags.dryRun) {
      io.print(`Would remove ${nameOf(room)} with ${contentOf(room)}.`, { ...documentOf(room), removed: false })
      return
    }
    const question = `Remove ${nameOf(room)} with ${contentOf(room)} permanently?`
    if (!flags.yes && !(await io.confirm(question))) throw cancelled()
    const removed = await chat.administration.remove(room.id)
    io.print(`Removed ${nameOf(removed)} with ${contentOf(removed)}.`, { ...documentOf(removed), removed: true })
  },
})
