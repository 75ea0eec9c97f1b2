import { isUtf8 } from 'node:buffer'
import { open } from 'node:fs/promises'
import { extname } from 'node:path'
import { COMPONENT_CODE } from '../../contract/limits.ts'
import { desktopComponents } from '../../contract/desktop-components.ts'
import { isFault } from '../../contract/errors.ts'
import type { Api } from '../../client/api.ts'
import { formatSize } from '../../base/sizes.ts'
import { command, flag } from '../command.ts'
import { Exit, usage } from '../exit.ts'
import type { Io } from '../io.ts'

const TYPES = ['css', 'js', 'widget'] as const
type Type = (typeof TYPES)[number]

const BY_EXTENSION: Record<string, Type> = {
  '.css': 'css',
  '.js': 'js',
  '.mjs': 'js',
  '.html': 'widget',
  '.htm': 'widget',
}

export const save = command({
  name: 'component save',
  summary: 'Save a file as a new, active version of one of your components',
  details:
    'A .css file is a style, .js a script of hooks, .html a widget. An existing component keeps its type; --type sets it in ' +
    'any case. Metadata stay as they are unless --metadata replaces them. With --base-version nothing is saved if the newest version is ' +
    'another one (exit 6); 0 means a new component.',
  needs: 'server',
  args: { name: 'name of the component', file: 'local file, or - for standard input' },
  flags: {
    type: flag.choice('type of the component', 'TYPE', TYPES),
    metadata: flag.text('a JSON object, of widgets with width and height', 'JSON'),
    baseVersion: flag.integer('the newest version that you know of', 'N', 0),
  },
  examples: [
    'svc component save accent accent.css',
    'svc component save clock clock.widget.html --metadata \'{"width":240,"height":120}\'',
    'sass dark.scss | svc component save dark - --type css --base-version 0',
  ],
  async run({ io, api, args: { name, file }, flags }) {
    const given = flags.metadata === undefined ? undefined : metadataOf(flags.metadata)
    const what = file === '-' ? 'standard input' : file
    const code = await readCode(io, file, what)
    const known = await newestVersion(api, name)
    const component_type = flags.type ?? BY_EXTENSION[extname(file).toLowerCase()] ?? known?.component_type
    if (component_type === undefined) throw usage(`What is ${what}? Give --type css, --type js or --type widget.`)
    const metadata = given ?? (await metadataNow(api, name, known?.newest))
    const base = flags.baseVersion === undefined ? {} : { base_version: flags.baseVersion }
    const { version } = await api
      .call(desktopComponents.actions.save, { component_id: name, component_type, code, metadata, ...base })
      .catch((error: unknown) => {
        throw explainError(error, { name, what, type: component_type })
      })
    const words = `Saved ${what} as version ${version} of ${name} (${component_type}).`
    io.print(words, { component_id: name, component_type, version, bytes: Buffer.byteLength(code) })
  },
})

function metadataOf(text: string): object {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    value = undefined
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw usage('--metadata must be a JSON object, such as {"width":240,"height":120}.')
  return value
}

async function newestVersion(api: Api, name: string) {
  const { components } = await api.call(desktopComponents.actions.overview, {})
  return components.find(({ component_id }) => component_id === name)
}

/** The metadata of the newest version, so that saving only code keeps it. */
async function metadataNow(api: Api, name: string, version: number | undefined): Promise<object> {
  if (version === undefined) return {}
  try {
    return (await api.call(desktopComponents.actions.get, { component_id: name, version })).component.metadata
  } catch (error) {
    if (isFault(error, 'not_found')) return {}
    throw error
  }
}

/** Reads the code from a file or standard input, up to the limit of a component. */
async function readCode(io: Io, file: string, what: string): Promise<string> {
  const pieces: Uint8Array[] = []
  let size = 0
  for await (const piece of file === '-' ? io.input() : fileBytes(file)) {
    size += piece.length
    if (size > COMPONENT_CODE.max_bytes)
      throw usage(`${what} is larger than ${formatSize(COMPONENT_CODE.max_bytes)}, the limit for a component.`)
    pieces.push(piece)
  }
  const bytes = Buffer.concat(pieces)
  if (!isUtf8(bytes)) throw usage(`${what} is not UTF-8 text.`)
  return bytes.toString()
}

async function* fileBytes(file: string): AsyncGenerator<Uint8Array> {
  const opened = await open(file).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') throw new Exit(5, `There is no file ${file}.`, 'not_found')
    throw new Exit(1, `${file} cannot be read: ${error.code}.`)
  })
  try {
    if ((await opened.stat()).isDirectory()) throw usage(`${file} is a folder: a component is one file.`)
    yield* opened.createReadStream({ autoClose: false })
  } finally {
    await opened.close()
  }
}

/** Explains an error of the server in terms of the command. */
function explainError(error: unknown, { name, what, type }: { name: string; what: string; type: Type }): unknown {
  if (isFault(error, 'conflict'))
    return new Exit(
      6,
      `${name} was changed by someone else meanwhile and was not saved: svc component history ${name}.`,
      'conflict',
    )
  if (isFault(error, 'bad_request') && type === 'js' && error.message === 'Blockierter Code')
    return usage(`${what} must not contain any of ${COMPONENT_CODE.blocked.join(', ')}.`)
  return error
}
