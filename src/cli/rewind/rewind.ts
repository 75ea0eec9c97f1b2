import { resolve } from 'node:path'
import type { Failure, RewindLock, RewindPlan, SavedState, UnfinishedRewind } from '../../domain/rewind/rewind.ts'
import { iso } from '../../base/clock.ts'
import { makeLockedFolder } from '../../host/temporary-folder.ts'
import { command, flag } from '../command.ts'
import { Exit, usage, type ExitCode } from '../exit.ts'
import { BACKUP_NAMES, passphraseSource, sourceFlags, sourceOptions } from '../backup-source.ts'
import { withProgress } from '../progress.ts'
import { commandLine } from '../../base/shell-words.ts'
import { formatTime } from '../time-format.ts'
import { assertNotLeftBehind, assertNotSaved, interruptedText, refuseLatest } from './interrupted.ts'
import { assertExact, withNearest } from './moment.ts'
import { savePresentState, saveTarget, type Context, type SaveOptions } from './present-state.ts'
import { clientNote, differenceText, documentOf, failureLines, isEmpty } from './rewind-summary.ts'

export const rewind = command({
  name: 'rewind',
  summary: 'Rewind the files and rows of one account to an earlier moment',
  details:
    'Shows what would change. With --apply the present state is backed up first, then files and rows become as they were at that moment: ' +
    'deleted ones return, changed ones get their earlier content, and newer ones are removed, files to the trash. The output names the command that undoes it.\n\n' +
    `--to names a moment of a stream, such as 14:05, "yesterday 14:05" or 2026-11-26T14:05:07Z, or a backup. ${BACKUP_NAMES}. Times without a zone are those of this machine.\n\n` +
    'Clients receive the changes like any others, and changes that they have not sent yet are kept as with every concurrent change. ' +
    'Chat, trash, earlier versions, desktop components, conversations with the assistant, settings, devices and sessions stay as they are. What somebody changes meanwhile is left alone and listed, with exit code 3.',
  needs: 'domain',
  args: {},
  flags: {
    user: flag.text('the account', 'NAME'),
    to: flag.text('moment or backup', 'WHEN'),
    apply: flag.switch('do it'),
    saveTo: flag.text('folder for the backup of the present state (that of --from)', 'DIR'),
    encrypt: flag.switch('encrypt a new folder of --save-to with a passphrase (as that of --from is)'),
    noEncrypt: flag.switch('do not encrypt it, although the backups of --from are encrypted'),
    ...sourceFlags,
    temp: flag.text('folder for a temporary copy of the database', 'DIR'),
  },
  examples: [
    "svc rewind --user ada --to '14:05'",
    "svc rewind --user ada --to '14:05' --apply",
    "svc rewind --user ada --to 'yesterday 14:05' --from /mnt/backup/svc",
    'svc rewind --user ada --to 20261126-031500-a1b2 --from /mnt/backup/svc --apply',
  ],
  async run({ io, globals, domain, directory, flags }): Promise<ExitCode> {
    const { user, to } = flags
    if (user === undefined || to === undefined) throw usage('Give the account and the moment: --user NAME --to WHEN.')
    const { username } = await domain.accounts.details(user).catch((error: unknown) => {
      throw withHelp(error)
    })
    const context = { io, globals, domain, directory }
    if (!flags.apply) return rewindFrom(context, { ...flags, user: username, to })
    const lock = await domain.rewind.lock(username)
    try {
      return await rewindFrom(context, { ...flags, user: username, to }, lock)
    } finally {
      await lock.release()
    }
  },
})

/** An account that is gone cannot be rewound, but restored. */
function withHelp(error: unknown): unknown {
  const { code, message } = error as { code?: string; message: string }
  if (code !== 'not_found') return error
  return new Exit(5, `${message} svc help wrong-deletion says how a removed account is restored.`, 'not_found')
}

/** Opens the older state and compares; rewinds under a lock, or only shows the difference without one. */
async function rewindFrom(context: Context, flags: Flags, lock?: RewindLock): Promise<ExitCode> {
  const { io, globals, domain, directory } = context
  const { user, to } = flags
  const history = await domain.rewind.history(user, lock)
  if (history.unfinished && to === 'latest') refuseLatest(globals, user, history.unfinished)
  const from = flags.from ?? ((await domain.instance.settings.values())['backup.to'] || undefined)
  const locations = await import('../../wiring/backups/backup-locations.ts')
  const lookup = { ...sourceOptions(globals, { from, temp: flags.temp }), dataDir: directory.path }
  const passphrases = passphraseSource(io, flags)
  const source = await locations
    .backupSource(to, lookup, passphrases)
    .catch((error: unknown) => withNearest(error, to, lookup, passphrases))
  const temporary = await makeLockedFolder('svc-rewind-', flags.temp)
  try {
    assertExact(source)
    const manifest = await source.manifest(await locations.backupNamed(source, to))
    if (to === 'latest') assertNotSaved(globals, manifest.id, history.saves)
    const at = source.at ?? Date.parse(manifest.created_at)
    if (history.unfinished) assertNotLeftBehind(globals, user, history.unfinished, { at, id: manifest.id })
    const past = { source, manifest, scratch: temporary.path }
    const plan = await withProgress('Comparing', (job) => domain.rewind.plan(user, past, job))
    try {
      // Exactly this state: `latest` is another backup once the present state is saved, and `14:05` another moment tomorrow.
      const isArchive = locations.isArchiveName(to)
      const named = source.at !== undefined ? iso(source.at) : isArchive ? to : manifest.id
      const moment = new Date(at).toISOString()
      const about = { username: plan.username, at: moment, ...documentOf(plan.difference) }
      const state = `${plan.username} at ${formatTime(at, true)}`
      const save = { ...flags, source, passphrases }
      const comparison = { plan, moment, about, state, named, isArchive, history, save }
      return lock ? await apply(context, flags, comparison, lock) : show(context, flags, comparison)
    } finally {
      await plan.close()
    }
  } finally {
    await temporary.remove()
    await source.close()
  }
}

interface Flags {
  user: string
  to: string
  from: string | undefined
  saveTo: string | undefined
  temp: string | undefined
  passphraseFile: string | undefined
  passphraseStdin: boolean
  encrypt: boolean
  noEncrypt: boolean
}

interface Comparison {
  plan: RewindPlan
  /** When the older state was, ISO 8601. */
  moment: string
  /** The comparison as a document. */
  about: object
  /** The account and the moment, for people. */
  state: string
  /** The older state, as `--to` names it at any time. */
  named: string
  isArchive: boolean
  history: { unfinished?: UnfinishedRewind | undefined; saves: readonly SavedState[] }
  save: SaveOptions
}

/** The flags that decide where backups are read and written, for a command line to copy. */
const flagWords = ({ from, saveTo, temp, passphraseFile, encrypt, noEncrypt }: Flags): string[] => [
  ...(from === undefined ? [] : ['--from', from]),
  ...(saveTo === undefined ? [] : ['--save-to', saveTo]),
  ...(encrypt ? ['--encrypt'] : []),
  ...(noEncrypt ? ['--no-encrypt'] : []),
  ...(passphraseFile === undefined ? [] : ['--passphrase-file', passphraseFile]),
  ...(temp === undefined ? [] : ['--temp', temp]),
]

const absolute = (path: string | undefined): string | undefined =>
  path === undefined || path.startsWith('s3://') ? path : resolve(path)

/** The words of the command that makes the same rewind, wherever and whenever it runs. */
function completingWords(flags: Flags, { named, isArchive, save }: Comparison): string[] {
  const { saveTo, temp, passphraseFile } = flags
  const from = isArchive ? flags.from && resolve(flags.from) : save.source.place
  const paths = { from, saveTo: absolute(saveTo), temp: absolute(temp), passphraseFile: absolute(passphraseFile) }
  const words = ['rewind', '--user', flags.user, '--to', isArchive ? resolve(named) : named]
  return [...words, ...flagWords({ ...flags, ...paths }), '--apply']
}

function show({ io, globals }: Context, flags: Flags, comparison: Comparison): ExitCode {
  const { plan, about, state, named, history } = comparison
  const { unfinished } = history
  if (unfinished) io.warn(interruptedText(globals, plan.username, unfinished))
  const document = { ...about, applied: false, ...(unfinished && { interrupted: unfinished }) }
  if (isEmpty(plan.difference)) {
    io.print(`The files and rows of ${state} are the present ones.`, document)
    return 0
  }
  const again = commandLine(globals, ['rewind', '--user', plan.username, '--to', named, ...flagWords(flags), '--apply'])
  const text = `To return to the state of ${state}:\n\n${differenceText(plan.difference, io.paint)}\n\nNothing was changed.`
  io.print(`${text}\nNext: ${again}`, document)
  return 0
}

async function apply(context: Context, flags: Flags, comparison: Comparison, lock: RewindLock): Promise<ExitCode> {
  const { io, globals } = context
  const { plan, about, state, history } = comparison
  const { unfinished } = history
  if (isEmpty(plan.difference)) {
    if (unfinished) await lock.finish()
    io.print(`The files and rows of ${state} are the present ones.`, { ...about, applied: false })
    return 0
  }
  const { saved, words } = await begin(context, flags, comparison, lock)
  const [again, undo] = [words.complete, words.undo].map((some) => commandLine(globals, some)) as [string, string]
  let failures: Failure[]
  try {
    failures = await withProgress('Rewinding', (job) => plan.execute(job, lock))
  } catch (error) {
    io.warn(`The rewind is incomplete. To complete it: ${again}. To undo it: ${undo}.`)
    throw error
  }
  await lock.finish()
  for (const line of failureLines(failures)) io.warn(line)
  const text = `Returned to the state of ${state}:\n\n${differenceText(plan.difference, io.paint)}${clientNote(plan.difference)}`
  io.print(`${text}\n\nTo undo it: ${undo}`, { ...about, applied: true, saved, undo, failures })
  return failures.length > 0 ? 3 : 0
}

/** Saves the present state, and records what is begun. */
async function begin(context: Context, flags: Flags, comparison: Comparison, lock: RewindLock) {
  const { io } = context
  const { plan, moment, named, history } = comparison
  const { unfinished } = history
  const target = await saveTarget(context, comparison.save)
  const id = await savePresentState(context, target)
  const { place, encrypted } = target
  const { passphraseFile } = flags
  const given = passphraseFile !== undefined && encrypted ? ['--passphrase-file', resolve(passphraseFile)] : []
  const undo = ['rewind', '--user', plan.username, '--to', id, '--from', place, ...given, '--apply']
  const own = { complete: completingWords(flags, comparison), undo }
  const save = { id, place, moment, undo }
  if (!unfinished) {
    const saved = { id, place, encrypted }
    await lock.begin({ moment, saved, ...own }, save)
    io.info(`The present state is saved as backup ${id} in ${place}${encrypted ? ', encrypted' : ''}.`)
    return { saved, words: own }
  }
  // The state before the first attempt is the one to return to, not the one that an interruption left.
  const { saved } = unfinished
  const isUndo = named === saved.id
  await lock.begin(isUndo ? unfinished : { moment, saved, complete: own.complete, undo: unfinished.undo }, save)
  io.info(
    `The state that the interruption left is saved as backup ${id} in ${place}. ` +
      `The state before the interrupted rewind is backup ${saved.id} in ${saved.place}.`,
  )
  return isUndo
    ? { saved, words: { complete: unfinished.undo, undo: unfinished.complete } }
    : { saved, words: { complete: own.complete, undo: unfinished.undo } }
}
