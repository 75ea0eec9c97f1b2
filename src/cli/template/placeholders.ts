import { existsSync, realpathSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { fault } from '../../contract/errors.ts'
import { flag, type Globals } from '../command.ts'
import { usage } from '../exit.ts'
import { catalogue, type Template } from './catalogue.ts'

export const valueFlags = {
  host: flag.text('name under which users reach the service (cloud.example.org)', 'NAME'),
  user: flag.text('system user that runs it (svc)', 'NAME'),
  port: flag.integer('port that it listens on (8420)', 'PORT', 1, 65_535),
}

interface ValueFlags {
  host: string | undefined
  user: string | undefined
  port: number | undefined
}

type Values = Record<string, string>

const HOST = /^(?=.{1,253}$)[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)*$/
const USER = /^[a-z_][a-z0-9_-]{0,31}$/
// Paths that need no quoting in unit files, proxy configurations and shells.
const PATH = /^\/[A-Za-z0-9._@+:/-]*$/

const HOMES = /^\/(?:home|root|run\/user)(?:\/|$)/
const TEMPORARY = /^\/(?:var\/)?tmp(?:\/|$)/

function validate(pattern: RegExp, text: string, subject: string): string {
  if (!pattern.test(text)) throw usage(`${subject}, not "${text}".`)
  return text
}

/** Whether a path is in a home folder, which ProtectHome= hides from services. */
const isInHome = (path: string): boolean => HOMES.test(path)

/** Whether a path is in a temporary folder, which PrivateTmp= replaces for services. */
const isTemporary = (path: string): boolean => TEMPORARY.test(path)

/** The command line that starts the running program. */
function commandLine(): string {
  const words = [process.execPath, realpathSync(process.argv[1] ?? process.execPath)]
  return words
    .map((word) => validate(PATH, word, 'The path of svc must contain only letters, digits and . _ @ + : -'))
    .join(' ')
}

/** Values of the placeholders. Throws `Exit` for a value that would need quoting. */
export function valuesOf(
  { host = 'cloud.example.org', user = 'svc', port = 8_420 }: ValueFlags,
  globals: Globals,
): Values {
  const dataDir = resolve(globals.dataDir ?? '/var/lib/svc')
  const command = commandLine()
  return {
    host: validate(HOST, host.toLowerCase(), '--host must be a host name, such as cloud.example.org'),
    user: validate(USER, user, '--user must be the name of a user of the system, such as svc'),
    port: String(port),
    data_dir: validate(PATH, dataDir, '--data-dir must be a path of letters, digits and . _ @ + : -'),
    command,
    // Hide home folders, unless the program or its data are in one.
    protect_home: [dataDir, ...command.split(' ')].some(isInHome) ? 'read-only' : 'yes',
  }
}

const fillIn = (text: string, values: Values): string =>
  text.replace(/\{\{(\w+)\}\}/g, (_, name: string) => {
    const value = values[name]
    if (value === undefined) throw new Error(`A template asks for ${name}.`)
    return value
  })

/** A warning about values that are filled in but may not work. */
export function warningFor(
  files: readonly { text: string }[],
  { command = '', user = '', data_dir = '' }: Values,
): string | undefined {
  const program = command.split(' ')
  const hidden = [...program, data_dir].find(isTemporary)
  if (hidden !== undefined && files.some(({ text }) => /^PrivateTmp=yes/m.test(text)))
    return `The service cannot see ${hidden}: PrivateTmp= gives it a /tmp and a /var/tmp of its own. Choose another place.`
  if (program.some(isInHome) && files.some(({ text }) => text.includes(command) && /^User=/m.test(text)))
    return `This svc is installed in a home folder that ${user} must be able to read: npm install --global puts it where all users can.`
  return undefined
}

/** The templates folder, beside the built program or the sources. */
function folder(): string {
  for (let at = dirname(fileURLToPath(import.meta.url)); ; at = dirname(at)) {
    const found = join(at, 'templates')
    if (existsSync(found)) return found
    if (at === dirname(at)) throw new Error('The templates are missing: this installation of svc is not complete.')
  }
}

/** A template by name. Fault `not_found`. */
export function templateNamed(name: string): Template {
  const template = Object.hasOwn(catalogue, name) ? catalogue[name] : undefined
  if (!template) throw fault('not_found', { text: `There is no template "${name}": svc template list lists them.` })
  return template
}

export async function filledFiles({ files }: Template, values: Values): Promise<{ name: string; text: string }[]> {
  const from = folder()
  return Promise.all(
    Object.entries(files).map(async ([name, path]) => ({
      name,
      text: fillIn(await readFile(join(from, path), 'utf8'), values),
    })),
  )
}

export const nextSteps = ({ next }: Template, values: Values): string[] => next.map((line) => fillIn(line, values))
