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

export const seekingFlags = {
  from: flag.text('folder of backups (the setting backup.to)', 'DIR'),
  ...passphraseFlags,
}

interface PassphraseChoice {
  passphraseFile: string | undefined
  passphraseStdin: boolean
}

const LEAST = 8

/** The passphrase, asked for when it is needed and once. `flags` are the two that give it. */
export function passphrasesOf(
  io: Io,
  { passphraseFile, passphraseStdin }: PassphraseChoice,
  flags = '--passphrase-file or --passphrase-stdin',
): Passphrases {
  if (passphraseStdin && passphraseFile !== undefined) throw usage(`Give one of ${flags}, not both.`)
  let got: Promise<string> | undefined
  const given = () => readSecret(io, { stdin: passphraseStdin, file: passphraseFile }, 'passphrase')

  async function choose(): Promise<string> {
    const found = await given()
    const chosen = found ?? (await io.askSecret('New passphrase for the backups:', flags))
    if (byteLength(chosen) < LEAST) throw usage(`A passphrase has at least ${LEAST} bytes; longer is better.`)
    if (found === undefined && chosen !== (await io.askSecret('Once more:', flags)))
      throw usage('The two passphrases differ.')
    return chosen
  }

  return {
    chosen: () => (got ??= choose()),
    known: () => (got ??= given().then((found) => found ?? io.askSecret('Passphrase of the backups:', flags))),
  }
}

/** Where to look, as the flags and surroundings of a command say. */
export const seekingOf = (globals: Globals, { from }: { from: string | undefined }) => ({
  from,
  dataDir: globals.dataDir,
  env: globals.env,
})
