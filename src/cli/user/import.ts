import { open, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { randomHex } from '../../base/random.ts'
import { formatSize } from '../../base/sizes.ts'
import { printable } from '../../base/text.ts'
import { fromSystemError } from '../../base/errors.ts'
import type { Contained } from '../../domain/portability/portability.ts'
import { command, flag } from '../command.ts'
import { pluralize } from '../../base/counts.ts'
import { Exit, usage, type ExitCode } from '../exit.ts'
import type { Io } from '../io.ts'
import { passwordFlags, printWithPassword, readNewPassword } from '../password.ts'
import { makeProgress } from '../progress.ts'
import { quotaFlag, storedQuota } from './quota-flag.ts'

export const importAccount = command({
  name: 'user import',
  summary: 'Create an account from an archive of svc user export',
  details:
    'The whole archive is checked before anything is written. The account gets the role user, the default quota unless --quota ' +
    'sets another, and a new password. Nobody can sign in until it is complete. An interrupted import can be repeated.\n' +
    'Rows, files, components, apps and conversations with the assistant are restored. Chat rooms become documents in the folder Chats, ' +
    'because their other members may not exist on this server; the files of the rooms are put beside them.',
  needs: 'domain',
  createsDataDirectory: true,
  args: { file: 'tar archive, or - for standard input' },
  flags: {
    as: flag.text('another user name', 'NAME'),
    quota: quotaFlag(),
    withoutChats: flag.switch('leave chat rooms out'),
    ...passwordFlags,
    dryRun: flag.switch('check the archive, show what is in it, and change nothing'),
  },
  examples: [
    'svc user import ada.tar --generate',
    'svc user import ada.tar --as ada2 --quota 50GB',
    'ssh old svc user export ada --to - | svc user import - --generate',
  ],
  async run({ io, domain: { portability }, directory, args, flags }): Promise<ExitCode | void> {
    assertPasswordSource(args.file, flags)
    const source = await openArchive(io, args.file, join(directory.path, 'tmp'))
    try {
      const options = {
        username: flags.as,
        withoutChats: flags.withoutChats,
        ...(flags.quota !== undefined && { quota_bytes: storedQuota(flags.quota) }),
      }
      const plan = await portability.planImport(source.open, options)
      const { username, contained, replaces } = plan
      if (replaces) io.info(`What is left of an unfinished account ${username} is removed first.`)
      if (flags.dryRun) {
        const words = `The archive is valid. It would become ${username}, with\n\n${inventory(contained)}\n\nNothing was changed.`
        return io.print(words, { dry_run: true, username, ...documentOf(contained) })
      }
      const chosen = await readNewPassword(io, flags, username)
      const progress = makeProgress({ label: `Importing ${username}`, total: contained.bytes + contained.room_bytes })
      const { leftOut } = await plan
        .execute(chosen.password, (bytes) => progress.add(bytes))
        .finally(() => progress.end())
      for (const what of leftOut) io.warn(printable(`left out ${what}`))
      const text = `Imported ${username}, with\n\n${inventory(contained)}`
      printWithPassword(io, chosen, text, { username, ...documentOf(contained), left_out: leftOut })
      return leftOut.length > 0 ? 3 : 0
    } finally {
      await source.close()
    }
  },
})

function assertPasswordSource(file: string, { passwordStdin }: { passwordStdin: boolean }): void {
  if (file === '-' && passwordStdin) throw usage('Standard input is the archive: give --password-file or --generate.')
}

interface Source {
  open(): AsyncIterable<Uint8Array>
  close(): Promise<void>
}

const CHUNK = 1024 * 1024

/** The archive, which is read twice: standard input is stored in a temporary file. */
async function openArchive(io: Io, file: string, scratch: string): Promise<Source> {
  const spool = file === '-' ? await spoolInput(io.input(), scratch) : undefined
  const opened = await open(spool ?? file, 'r').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') throw new Exit(5, `There is no file ${file}.`, 'not_found')
    throw new Exit(1, `${file} cannot be read: ${error.code}.`)
  })
  // The open file remains readable after it is unlinked.
  if (spool !== undefined) await rm(spool)
  return {
    async *open() {
      for (let position = 0; ;) {
        const { bytesRead, buffer } = await opened.read(Buffer.allocUnsafe(CHUNK), 0, CHUNK, position)
        if (bytesRead === 0) return
        yield buffer.subarray(0, bytesRead)
        position += bytesRead
      }
    },
    close: () => opened.close(),
  }
}

async function spoolInput(input: AsyncIterable<Uint8Array>, scratch: string): Promise<string> {
  const [{ mkdir }, { streamDurably }] = await Promise.all([
    import('node:fs/promises'),
    import('../../host/durable-files.ts'),
  ])
  await mkdir(scratch, { recursive: true, mode: 0o700 })
  const file = join(scratch, `import-${randomHex(8)}.tar`)
  await streamDurably(file, input, { replace: false, mode: 0o600 }).catch((error: unknown) => {
    throw fromSystemError(error)
  })
  return file
}

const sum = (counts: Record<string, number>): number => Object.values(counts).reduce((total, count) => total + count, 0)

function inventory({
  rows,
  files,
  folders,
  bytes,
  components,
  profiles,
  apps,
  conversations,
  conversation_messages: said,
  rooms,
  messages,
  room_files,
}: Contained) {
  const lines = [
    `${pluralize(files, 'file')} in ${pluralize(folders, 'folder')} (${formatSize(bytes)})`,
    pluralize(sum(rows), 'row'),
    `${pluralize(components, 'version')} of components, ${pluralize(profiles, 'profile')}, ${pluralize(apps, 'app')}`,
    `${pluralize(conversations, 'conversation')} with the assistant (${pluralize(said, 'message')})`,
    `${pluralize(rooms, 'chat room')} with ${pluralize(messages, 'message')} and ${pluralize(room_files, 'file')}`,
  ]
  return lines.map((line) => `    ${line}`).join('\n')
}

function documentOf({ account, roots: _, hashes: __, largest: ___, ...counts }: Contained) {
  return {
    from: { username: account.username, server_id: account.server_id, exported_at: account.exported_at },
    ...counts,
  }
}
