import { formatSize } from '../../base/sizes.ts'
import type { HandedOver, RemovalPlan } from '../../domain/accounts/accounts.ts'
import { cancelled, command, flag } from '../command.ts'
import { pluralize } from '../../base/counts.ts'

export const remove = command({
  name: 'user remove',
  summary: 'Remove an account with its files and rows permanently',
  details:
    'Also removes its messages, its conversations with the assistant, the rooms that nobody else is in, and the files it stored in rooms of others.\n' +
    'With --keep-messages its messages stay in rooms that others are in, written by "Former user"; nobody can edit them, and ' +
    'administrators can delete them.\n' +
    'With --keep-files-for its files become a folder "Files of NAME" of another account, whatever quota that has. Files ' +
    'in rooms of others stay there and count for that account. The trash is always removed: its owner deleted it.\n' +
    'The account can no longer sign in as soon as the removal begins. Its data is removed while the server keeps running. An interrupted removal continues ' +
    'when the server starts, within an hour on a running server, or when the command is run again.',
  needs: 'domain',
  args: { name: 'user name' },
  flags: {
    keepFilesFor: flag.text('account that gets the files', 'USER'),
    keepMessages: flag.switch('leave its messages in rooms of others, without its name'),
    dryRun: flag.switch('show what would be removed, and change nothing'),
    yes: flag.yes,
  },
  examples: [
    'svc user remove ada --dry-run',
    'svc user remove ada',
    'svc user remove ada --keep-messages --keep-files-for bob --yes',
  ],
  async run({ io, domain: { accounts }, args, flags }) {
    const { id, username, used_bytes } = await accounts.details(args.name)
    const heir = flags.keepFilesFor === undefined ? undefined : await accounts.byName(flags.keepFilesFor)
    const options = { heir: heir?.id, keepMessages: flags.keepMessages }
    const plan = await accounts.planRemoval(id, options)
    const about = { id, username, used_bytes, files_to: heir?.username ?? null }
    if (flags.dryRun) {
      const words = `Would remove ${username} permanently:\n\n${inventory(plan, heir?.username)}\n\nNothing was changed.`
      const { has, messages_kept, hands_over = null } = plan
      io.print(words, { ...about, has, messages_kept, hands_over, removed: false, dry_run: true })
      return
    }
    if (!flags.yes) {
      if (io.interactive) io.info(`${inventory(plan, heir?.username)}\n`)
      if (!(await io.confirm(`Remove ${username} permanently?`))) throw cancelled()
    }
    const { had, messages_kept, handed_over } = await accounts.remove(id, options)
    const files = `${pluralize(had.files, 'file')} (${formatSize(had.bytes)})`
    const words = [
      handed_over
        ? `Removed ${username}. ${handoverText(handed_over, heir!.username, files)}`
        : `Removed ${username} with ${files}.`,
      ...(messages_kept > 0 ? [`${stayText(messages_kept)}.`] : []),
    ]
    io.print(words.join(' '), { ...about, has: had, messages_kept, handed_over: handed_over ?? null, removed: true })
  },
})

/** Lists what belongs to an account, one line per kind; omits empty ones. */
function inventory({ has, messages_kept, hands_over }: RemovalPlan, heir: string | undefined): string {
  const kept = (text: string, where: string) => (heir === undefined ? text : `${text}: ${where}`)
  const files = `${pluralize(has.files, 'file')} in ${pluralize(has.folders, 'folder')}, ${formatSize(has.bytes)}`
  const inRooms = `${pluralize(has.room_files, 'file')} in rooms of others, ${formatSize(has.room_bytes)}`
  const alone = has.rooms_alone > 0 ? `, and ends ${has.rooms_alone} of them, having been alone there` : ''
  const lines: [count: number, text: string][] = [
    [has.files + has.folders, kept(files, `to ${heir} as "${hands_over?.folder}"`)],
    [has.trash, `${pluralize(has.trash, 'item')} in the trash`],
    [has.room_files, kept(inRooms, `to be counted for ${heir}`)],
    [has.rows, pluralize(has.rows, 'row')],
    [has.messages - messages_kept, pluralize(has.messages - messages_kept, 'message')],
    [has.rooms, `leaves ${pluralize(has.rooms, 'room')}${alone}`],
    [has.conversations, `${pluralize(has.conversations, 'conversation')} with the assistant`],
    [has.devices, pluralize(has.devices, 'device')],
    [has.sessions, pluralize(has.sessions, 'session')],
  ]
  const some = lines.filter(([count]) => count > 0).map(([, text]) => `  ${text}`)
  if (some.length === 0 && messages_kept === 0) some.push('  An empty account.')
  if (messages_kept > 0) some.push(`\n${stayText(messages_kept)}.`)
  if (hands_over) some.push(`\n${heir} would use ${usageText(hands_over)}.`)
  return some.join('\n')
}

const stayText = (messages: number): string =>
  `${pluralize(messages, 'message')} ${messages === 1 ? 'stays' : 'stay'}, written by "Former user"`

function handoverText(handed: HandedOver, heir: string, files: string): string {
  const { folder, room_files } = handed
  const place = folder === null ? `There were no files to give to ${heir}.` : `Gave ${files} to ${heir} as "${folder}".`
  const rooms =
    room_files > 0
      ? ` ${pluralize(room_files, 'file')} in rooms now ${room_files === 1 ? 'counts' : 'count'} for ${heir}.`
      : ''
  return `${place}${rooms} ${heir} uses ${usageText(handed)} now.`
}

function usageText({ used_bytes, quota_bytes }: Pick<HandedOver, 'used_bytes' | 'quota_bytes'>): string {
  if (quota_bytes < 0) return formatSize(used_bytes)
  const over = used_bytes > quota_bytes ? ', more than the quota allows' : ''
  return `${formatSize(used_bytes)} of ${formatSize(quota_bytes)}${over}`
}
