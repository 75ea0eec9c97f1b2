import type { Api } from '../../client/api.ts'
import type { RejectedChange } from '../../client/replica/replica-records.ts'
import type { Replica } from '../../client/replica/replica.ts'
import type { Choice, FileConflict } from '../../client/sync/index.ts'
import { command, flag, cancelled } from '../command.ts'
import { pluralize } from '../../base/counts.ts'
import { Exit, usage, type ExitCode } from '../exit.ts'
import type { Io } from '../io.ts'
import { retryOptions } from '../retry-options.ts'
import { documentOf, conflictList, titleOf, type OpenConflict } from './conflict-text.ts'

const DECISIONS: Record<Choice, string> = {
  mine: 'yours is kept',
  theirs: "the server's is kept",
  both: 'both are kept',
}

export const conflicts = command({
  name: 'sync conflicts',
  summary: 'List and resolve what was changed on both sides, or was refused by the server',
  details:
    'Lists conflict copies of files in all synchronised folders of the account, rows that were changed locally and elsewhere, and changes of ' +
    'rows that the server refused, each with both sides and an id. The server is not contacted. Exit code 3 when there are any.\n\n' +
    'keep ID resolves one or several: --mine keeps your version (a file gets its name back), --theirs that of the server, --both both ' +
    '(a conflict copy stays where it is; a row becomes two). A replaced file goes to .svc/trash; the next svc sync sends the result to the ' +
    'server. A conflict copy that you rename or delete yourself is resolved too.',
  needs: 'server',
  args: {
    action: { summary: 'keep, to resolve; without it conflicts are listed', optional: true },
    ids: { summary: 'ids from the list', optional: true, many: true },
  },
  flags: {
    mine: flag.switch('keep your version'),
    theirs: flag.switch("keep the server's version"),
    both: flag.switch('keep both'),
    all: flag.switch('resolve all that are listed'),
    dryRun: flag.switch('show what would be done, and change nothing'),
    yes: flag.yes,
  },
  examples: [
    'svc sync conflicts',
    'svc sync conflicts keep f3ab9c --mine',
    'svc sync conflicts keep r12 r13 --both',
    'svc sync conflicts keep --all --theirs --dry-run',
  ],
  async run({ io, globals, account, api, args, flags }): Promise<ExitCode> {
    const { userFolder } = await import('../../host/user-folders.ts')
    const { systemClock } = await import('../../base/clock.ts')
    const stateFolder = userFolder('state', globals.env)
    const choice = choiceOf(args.action, args.ids, flags)
    const copy = await openExistingReplica(stateFolder, account)
    try {
      const open: OpenConflict[] = [...(await fileConflictsOf(io, stateFolder, account)), ...(copy?.rejected() ?? [])]
      if (!choice) {
        io.print(
          conflictList(io, open, systemClock.now()),
          open.map((each) => documentOf(each, copy)),
        )
        return open.length > 0 ? 3 : 0
      }
      const wanted = flags.all ? open : args.ids.map((id) => findConflict(open, id))
      if (flags.dryRun) {
        io.print(
          wanted.map((each) => `${titleOf(each)}: ${DECISIONS[choice]}`).join('\n') || 'There is nothing to resolve.',
          wanted.map((each) => ({ ...documentOf(each, copy), keep: choice })),
        )
        return 0
      }
      const lost = wanted.filter((each) => !('root' in each)).length
      if (choice === 'theirs' && lost > 0 && !flags.yes) {
        const question = `Drop your ${pluralize(lost, 'change')} of rows? Nothing else keeps ${lost === 1 ? 'it' : 'them'}.`
        if (!(await io.confirm(question))) throw cancelled()
      }
      const resolved = []
      for (const each of wanted) {
        if ('root' in each) await resolveFile(each, choice, stateFolder)
        else await resolveRow(copy!, each, choice)
        resolved.push({ ...documentOf(each, undefined), kept: choice })
      }
      if (copy && copy.count().waiting > 0) await sendQueued(io, copy, api)
      const words = wanted.map((each) => `${titleOf(each)}: ${DECISIONS[choice]}.`)
      const files = wanted.some((each) => 'root' in each) ? ['The next svc sync sends it to the server.'] : []
      io.print([...words, ...(words.length > 0 ? files : ['There was nothing to resolve.'])].join('\n'), resolved)
      return 0
    } finally {
      copy?.close()
    }
  },
})

interface ChoiceFlags {
  mine: boolean
  theirs: boolean
  both: boolean
  all: boolean
}

/** Which side to keep; undefined if the conflicts are only listed. */
function choiceOf(action: string | undefined, ids: readonly string[], flags: ChoiceFlags): Choice | undefined {
  const given = (['mine', 'theirs', 'both'] as const).filter((each) => flags[each])
  if (action === undefined) {
    if (given.length > 0 || flags.all)
      throw usage('To resolve a conflict: svc sync conflicts keep ID --mine|--theirs|--both')
    return undefined
  }
  if (action !== 'keep') throw usage(`There is no svc sync conflicts ${action}: it is keep.`)
  if (given.length !== 1) throw usage('Give the side to keep: --mine, --theirs or --both.')
  if ((ids.length === 0) !== flags.all) throw usage('Give the ids of the conflicts, or --all.')
  return given[0]!
}

function findConflict(open: readonly OpenConflict[], id: string): OpenConflict {
  const found = open.find((each) => ('root' in each ? each.id : `r${each.id}`) === id)
  if (!found) throw new Exit(5, `There is no conflict "${id}": svc sync conflicts lists them.`, 'not_found')
  return found
}

async function openExistingReplica(
  stateFolder: string,
  account: Parameters<typeof fileConflictsOf>[2],
): Promise<Replica | undefined> {
  const { existsSync } = await import('node:fs')
  const { systemClock } = await import('../../base/clock.ts')
  const { replicaFile, knownAccount } = await import('../../client/replica/replica-file.ts')
  const { openReplica } = await import('../../client/replica/replica.ts')
  const owner = await knownAccount(stateFolder, account)
  const file = owner && replicaFile(stateFolder, owner)
  return file && existsSync(file) ? openReplica(file, owner, systemClock).copy : undefined
}

async function fileConflictsOf(
  io: Io,
  stateFolder: string,
  account: { url: string; username: string; token: string; profile: string },
): Promise<FileConflict[]> {
  const { listFileConflicts, listRoots } = await import('../../client/sync/index.ts')
  const { knownAccount } = await import('../../client/replica/replica-file.ts')
  const { Refused } = await import('../../client/refused.ts')
  const owner = await knownAccount(stateFolder, account)
  const found: FileConflict[] = []
  for (const { path, url, username, server_id, user_id } of await listRoots(stateFolder, ({ message }) =>
    io.warn(message),
  )) {
    const isOurs = owner
      ? owner.server_id === server_id && owner.user_id === user_id
      : url === account.url && username === account.username
    if (!isOurs) continue
    try {
      found.push(...(await listFileConflicts(path, stateFolder)))
    } catch (error) {
      if (!(error instanceof Refused)) throw error
      io.warn(error.message)
    }
  }
  return found
}

async function resolveFile(conflict: FileConflict, choice: Choice, stateFolder: string): Promise<void> {
  const { resolveFileConflict, Changed } = await import('../../client/sync/index.ts')
  const { systemClock } = await import('../../base/clock.ts')
  try {
    await resolveFileConflict(conflict, choice, { stateFolder, clock: systemClock })
  } catch (error) {
    if (!(error instanceof Changed)) throw error
    throw new Exit(
      6,
      `${conflict.mine.path.slice(1)} was changed meanwhile: it was not resolved. List the conflicts again.`,
      'conflict',
    )
  }
}

async function resolveRow(copy: Replica, rejectedChange: RejectedChange, choice: Choice): Promise<void> {
  const { changesFor } = await import('../../client/replica/resolution.ts')
  const { systemClock, iso } = await import('../../base/clock.ts')
  const { hostname } = await import('node:os')
  const mark = `(conflict ${hostname()} ${iso(systemClock.now()).slice(0, 10)})`
  copy.answer(
    rejectedChange,
    changesFor(rejectedChange, choice, copy.row(rejectedChange.table, rejectedChange.row), mark),
  )
}

async function sendQueued(io: Io, copy: Replica, api: Api): Promise<void> {
  const { flush } = await import('../../client/replica/exchange.ts')
  const { withRetryIfUnknown } = await import('../../client/http/request-retry.ts')
  const { isTemporary } = await import('../../client/http/connectivity.ts')
  try {
    const { rejected } = await flush(
      { api, throttle: (_, request) => withRetryIfUnknown(request, retryOptions(io)), timeout: 20_000 },
      copy,
    )
    if (rejected > 0) io.warn(`${pluralize(rejected, 'change')} could still not be applied: list the conflicts again.`)
  } catch (error) {
    if (!isTemporary(error)) throw error
    io.info(`${error.message} The decision is queued: svc sync or the next svc data sends it.`)
  }
}
