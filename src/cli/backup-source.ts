import { byteLength } from '../base/text.ts'
import type { Passphrases } from '../wiring/backups/backup-locations.ts'
import { flag, type Globals } from './command.ts'
import { usage } from './exit.ts'
import type { Io } from './io.ts'
import { readSecret } from './password.ts'
import { parseTime } from './time-format.ts'

// Where backups are searched, and where the passphrase comes from.

export const passphraseFlags = {
  passphraseFile: flag.text('read the passphrase from a file', 'FILE'),
  passphraseStdin: flag.switch('read the passphrase from standard input'),
}

export const sourceFlags = {
  from: flag.text('folder or bucket of backups (the setting backup.to)', 'DIR'),
  ...passphraseFlags,
}

interface PassphraseFlags {
  passphraseFile: string | undefined
  passphraseStdin: boolean
}

const MIN_BYTES = 8

/** Returns a function that asks for the passphrase when it is first needed. `flags` are the two that provide it. */
export function passphraseSource(
  io: Io,
  { passphraseFile, passphraseStdin }: PassphraseFlags,
  flags = '--passphrase-file or --passphrase-stdin',
): Passphrases & { wasUsed(): boolean } {
  if (passphraseStdin && passphraseFile !== undefined) throw usage(`Give one of ${flags}, not both.`)
  let passphrase: Promise<string> | undefined
  const readGiven = () => readSecret(io, { stdin: passphraseStdin, file: passphraseFile }, 'passphrase')

  async function choose(): Promise<string> {
    const found = await readGiven()
    const chosen = found ?? (await io.askSecret('New passphrase for the backups:', flags))
    if (byteLength(chosen) < MIN_BYTES)
      throw usage(`A passphrase must have at least ${MIN_BYTES} bytes; longer is better.`)
    if (found === undefined && chosen !== (await io.askSecret('Repeat it:', flags)))
      throw usage('The two passphrases differ.')
    return chosen
  }

  return {
    wasUsed: () => passphrase !== undefined,
    isGiven: passphraseFile !== undefined || passphraseStdin,
    chosen: () => (passphrase ??= choose()),
    known: (place) =>
      (passphrase ??= readGiven().then(
        (found) =>
          found ??
          io.askSecret('Passphrase of the backups:', flags).catch((error: unknown) => {
            if (io.interactive || place === undefined) throw error
            throw usage(
              `The backups in ${place} are encrypted, and no key of this machine opens them. ${(error as Error).message}`,
            )
          }),
      )),
  }
}

/** How commands name a backup, for their help. */
export const BACKUP_NAMES = 'BACKUP is an id, the beginning of one, latest, an archive, stream, or a moment of a stream'

/** The word for the end of a stream. */
export const STREAM = 'stream'

/** An id, or its beginning with at least the date. */
const ID_PREFIX = /^\d{8}(-\d{0,6}|-\d{6}-[\da-f]*)?$/

const AGO = /^(\d{1,9}) *(s|m|h|d|seconds?|minutes?|hours?|days?) +ago$/i

const FORMS =
  'Give a time such as 14:05, 14:05:07, "yesterday 14:05", "10 minutes ago" or "2026-11-26 14:05", the id of a backup or its ' +
  'beginning with the date, such as 20261126, latest, stream, or an archive.'

function timeOf(name: string): number | undefined {
  const [, amount, unit] = AGO.exec(name.trim()) ?? []
  return parseTime(amount === undefined ? name : `${amount}${unit!.charAt(0).toLowerCase()}`, Date.now(), 'back')
}

/**
 * A moment of a stream, as a name of a backup: `stream` for its end, or a time; undefined for `latest` and ids. Throws a usage error
 * for anything else.
 */
function momentOf(name: string): { at: number | undefined } | undefined {
  if (name === STREAM) return { at: undefined }
  if (name === 'latest' || ID_PREFIX.test(name)) return undefined
  const at = timeOf(name)
  if (at !== undefined) return { at }
  const looksLikeTime = /^(yesterday +|\d{4}-\d{2}-\d{2}[T ])?\d{1,2}:\d{2}(:\d{2})?|^\d{4}-\d{2}-\d{2}$/i.test(name)
  if (name.trim() === '') throw usage(`An empty name is no backup. ${FORMS}`)
  if (looksLikeTime) throw usage(`There is no such time as "${name}". ${FORMS}`)
  const isNow = /^now$/i.test(name.trim()) ? ' The end of a stream is "stream", and the newest backup "latest".' : ''
  throw usage(`"${name}" is neither a moment nor a backup.${isNow} ${FORMS}`)
}

/** The search location from flags and environment. */
export const sourceOptions = (
  globals: Globals,
  { from, temp }: { from: string | undefined; temp?: string | undefined },
) => ({
  from,
  temp,
  momentOf,
  dataDir: globals.dataDir,
  env: globals.env,
})
