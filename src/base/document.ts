import { isAlias, isCollection, isMap, isSeq, LineCounter, parseDocument, visit, type Document, type Node } from 'yaml'
import { duplicateKey, offsetIn } from './json-places.ts'
import { byteLength } from './text.ts'

/** The way from the top of a document to a part of it: names and positions. */
export type Path = readonly (string | number)[]

/** Where something stands in a text, counted from 1. */
export interface Place {
  line: number
  column: number
}

/** A document as a value, and where each part of it stands. */
export interface PlacedDocument {
  value: unknown
  /** Where a part begins; where the nearest part around it does when it is not there. */
  placeOf(path: Path): Place
}

/** The text is no document; each problem with its place. */
export class BadDocument extends Error {
  override name = 'BadDocument'
  readonly problems: readonly (Place & { message: string })[]

  constructor(problems: readonly (Place & { message: string })[]) {
    super(problems.map(({ line, column, message }) => `${line}:${column} ${message}`).join('\n'))
    this.problems = problems
  }
}

/** YAML is read node by node, at a few hundred kilobytes a second; JSON is not. Bytes. */
const LARGEST = { yaml: 8 * 1024 * 1024, json: 256 * 1024 * 1024 } as const

/** References to one anchor, each counted with those inside it: what keeps a small text from standing for a huge value. */
const ALIASES = 1_000

const START: Place = { line: 1, column: 1 }

/**
 * Reads one YAML 1.2 or JSON document. Throws `BadDocument` for what is neither, for names given twice, for what is too
 * large, and for references that multiply.
 */
export function readDocument(text: string): PlacedDocument {
  const source = text.replace(/^\ufeff/, '')
  if (/^\s*[[{]/.test(source)) {
    const value = asJson(source)
    if (value) return value
  }
  return asYaml(source)
}

function asJson(source: string): PlacedDocument | undefined {
  if (byteLength(source) > LARGEST.json) throw tooLarge('JSON', LARGEST.json)
  let value: unknown
  try {
    value = JSON.parse(source)
  } catch {
    // YAML knows all of JSON and says better what is wrong with it.
    return undefined
  }
  const twice = duplicateKey(source)
  if (twice) throw new BadDocument([{ ...placeAt(source, twice.offset), message: `"${twice.key}" is given twice` }])
  return { value, placeOf: (path) => placeAt(source, offsetIn(source, path)) }
}

function asYaml(source: string): PlacedDocument {
  if (byteLength(source) > LARGEST.yaml) throw tooLarge('YAML', LARGEST.yaml)
  const lines = new LineCounter()
  const document = parseDocument(source, {
    lineCounter: lines,
    prettyErrors: false,
    stringKeys: true,
    logLevel: 'error',
  })
  const at = (offset: number): Place => {
    const { line, col } = lines.linePos(offset)
    return { line: Math.max(1, line), column: Math.max(1, col) }
  }
  const flaws = [...document.errors, ...document.warnings].map(({ pos, message }) => ({
    ...at(pos[0]),
    message: sayingOf(message),
  }))
  if (flaws.length === 0) flaws.push(...strayAliases(document, at))
  if (flaws.length > 0) throw new BadDocument(flaws)
  try {
    const value: unknown = document.toJS({ maxAliasCount: ALIASES })
    return { value, placeOf: (path) => at(offsetOf(document, path)) }
  } catch (error) {
    if (!(error instanceof ReferenceError)) throw error
    throw new BadDocument([{ ...START, message: 'the references (*) multiply to more than this can be meant to be' }])
  }
}

const tooLarge = (kind: string, limit: number): BadDocument =>
  new BadDocument([{ ...START, message: `${kind} may have at most ${limit / 1024 / 1024} MiB` }])

/** References to anchors that do not stand before them, or in which they stand themselves. */
function strayAliases(document: Document, at: (offset: number) => Place): (Place & { message: string })[] {
  const stray: (Place & { message: string })[] = []
  const known = new Set<string>()
  visit(document, {
    Node(_key, node, around) {
      if (isAlias(node)) {
        const place = at(node.range?.[0] ?? 0)
        const isInside = around.some((outer) => isCollection(outer) && outer.anchor === node.source)
        if (isInside) stray.push({ ...place, message: `this stands in "&${node.source}" itself` })
        else if (!known.has(node.source)) stray.push({ ...place, message: `there is no "&${node.source}" before this` })
      } else if (node.anchor !== undefined) known.add(node.anchor)
    },
  })
  return stray
}

/** The parser's words, in the form of ours: one clause that begins small and ends without a stop. */
const sayingOf = (message: string): string => {
  if (message.includes('Maximum call stack')) return 'this is nested too deeply'
  if (message.includes('multiple documents')) return 'a second document begins here, and there may be only one'
  if (message === 'Map keys must be unique') return 'this name is given twice'
  const clause = message.split('\n')[0]!.replace(/[.:]$/, '')
  return clause.charAt(0).toLowerCase() + clause.slice(1)
}

/** Where the part at a path begins: for a value under a name, the name. */
function offsetOf(document: Document, path: Path): number {
  let node = document.contents as Node | null
  let offset = node?.range?.[0] ?? 0
  for (const step of path) {
    if (isAlias(node)) node = (node.resolve(document) as Node | undefined) ?? null
    if (!isCollection(node)) break
    if (isSeq(node)) {
      const item = node.items[Number(step)] as Node | undefined
      if (!item?.range) break
      offset = item.range[0]
      node = item
    } else if (isMap(node)) {
      const pair = node.items.find(({ key }) => String((key as { value?: unknown } | null)?.value) === String(step))
      if (!pair) break
      offset = (pair.key as Node).range?.[0] ?? offset
      node = pair.value as Node | null
    }
  }
  return offset
}

function placeAt(source: string, offset: number): Place {
  const before = source.slice(0, offset)
  const lastBreak = before.lastIndexOf('\n')
  let line = 1
  for (let at = before.indexOf('\n'); at >= 0; at = before.indexOf('\n', at + 1)) line += 1
  return { line, column: offset - lastBreak }
}
