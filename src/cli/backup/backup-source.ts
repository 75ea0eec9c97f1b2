import { byteLength } from '../../base/text.ts'
import type { Passphrases } from '../../wiring/backup-places.ts'
import { flag, type Globals } from '../command.ts'
import { usage } from '../exit.ts'
import type { Io } from '../io.ts'
import { readSecret } from '../password.ts'

// Where backups are looked for, and how their passphrase is got.

export const passphraseFlags = {
  passphraseFile: flag.text('read the passphrase from a file', 'FILE'),
  passphraseStdin: flag.switch('read the passphrase from standard input'),
}

export const sourceFlags = {
  from: flag.text('folder of backups (the setting backup.to)', 'DIR'),
  ...passphraseFlags,
}

interface PassphraseFlags {
  passphraseFile: string | undefined
  passphraseStdin: boolean
}

const MIN_BYTES = 8

/** The passphrase, asked for when it is needed and once. `flags` are the two that give it. */
export function passphraseSource(
  io: Io,
  { passphraseFile, passphraseStdin }: PassphraseFlags,
  flags = '--passphrase-file or --passphrase-stdin',
): Passphrases {
  if (passphraseStdin && passphraseFile !== undefined) throw usage(`Give one of ${flags}, not both.`)
  let passphrase: Promise<string> | undefined
  const readGiven = () => readSecret(io, { stdin: passphraseStdin, file: passphraseFile }, 'passphrase')

  async function choose(): Promise<string> {
    const found = await readGiven()
    const chosen = found ?? (await io.askSecret('New passphrase for the backups:', flags))
    if (byteLength(chosen) < MIN_BYTES) throw usage(`A passphrase has at least ${MIN_BYTES} bytes; longer is better.`)
    if (found === undefined && chosen !== (await io.askSecret('Once more:', flags)))
      throw usage('The two passphrases differ.')
    return chosen
  }

  return {
    chosen: () => (passphrase ??= choose()),
    known: () =>
      (passphrase ??= readGiven().then((found) => found ?? io.askSecret('Passphrase of the backups:', flags))),
  }
}

/** Where to look, as the flags and surroundings of a command say. */
export const sourceOptions = (globals: Globals, { from }: { from: string | undefined }) => ({
  from,
  dataDir: globals.dataDir,
  env: globals.env,
})
