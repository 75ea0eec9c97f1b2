import { readFile } from 'node:fs/promises'
import { readablePassword } from '../base/random.ts'
import { flag } from './command.ts'
import { usage } from './exit.ts'
import type { Io } from './io.ts'

/** Ways to provide a new password. Never an argument: every user of the machine can read arguments with `ps`. */
export const passwordFlags = {
  passwordStdin: flag.switch('read the password from standard input'),
  passwordFile: flag.text('read the password from a file', 'FILE'),
  generate: flag.switch('generate a password and print it once'),
}

export interface PasswordFlags {
  passwordStdin: boolean
  passwordFile: string | undefined
  generate: boolean
}

export interface NewPassword {
  password: string
  generated: boolean
}

const FLAGS = '--password-stdin, --password-file or --generate'

/** Reads or generates a new password. A terminal prompts for it twice; without one, a missing flag is exit 2. */
export async function readNewPassword(io: Io, choice: PasswordFlags, whose: string): Promise<NewPassword> {
  const ways = [choice.passwordStdin, choice.passwordFile !== undefined, choice.generate].filter(Boolean).length
  if (ways > 1) throw usage(`Give only one of ${FLAGS}.`)
  if (choice.generate) return { password: readablePassword(), generated: true }
  return { password: await readOrAsk(io, choice, whose), generated: false }
}

/** Reads a one-line secret from standard input or a file; undefined without either. `what` names it in errors. */
export async function readSecret(
  io: Io,
  { stdin, file }: { stdin: boolean; file: string | undefined },
  what: string,
): Promise<string | undefined> {
  if (stdin) return assertOneLine(await io.stdin(), 'standard input', what)
  return file === undefined ? undefined : assertOneLine(await readText(file, what), file, what)
}

async function readOrAsk(io: Io, { passwordStdin, passwordFile }: PasswordFlags, whose: string): Promise<string> {
  const found = await readSecret(io, { stdin: passwordStdin, file: passwordFile }, 'password')
  if (found !== undefined) return found
  const password = await io.askSecret(`New password for ${whose}:`, FLAGS)
  const again = await io.askSecret('Repeat it:', FLAGS)
  if (password !== again) throw usage('The two passwords differ.')
  return password
}

async function readText(file: string, what: string): Promise<string> {
  try {
    return (await readFile(file, 'utf8')).replace(/\r?\n$/, '')
  } catch (error) {
    throw usage(`The ${what} cannot be read from ${file}: ${(error as Error).message}.`)
  }
}

function assertOneLine(text: string, source: string, what: string): string {
  if (text === '') throw usage(`There is no ${what} in ${source}.`)
  if (/[\r\n]/.test(text)) throw usage(`There is more than one line in ${source}: it must contain only the ${what}.`)
  return text
}

/** Prints the result of a command with a generated password, also with `--quiet`, because it is not shown again. */
export function printWithPassword(
  io: Io,
  { password, generated }: NewPassword,
  text: string,
  data: object,
  next = '',
): void {
  if (!generated) return io.print(text + next, data)
  io.printAlways(`${text}\n\n    ${password}\n\nThis password is not shown again.${next}`, { ...data, password })
}
