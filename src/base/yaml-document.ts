import { isAlias, isCollection, isMap, isSeq, LineCounter, parseDocument, visit, type Document, type Node } from 'yaml'
import { BadDocument, type Path, type Place, type PlacedDocument } from './document-positions.ts'

/** Limit of alias expansions, nested ones included, so that a small text cannot become a huge value. */
const ALIASES = 1_000

/** Reads one YAML 1.2 document. Throws `BadDocument`. */
export function readYaml(source: string): PlacedDocument {
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
  const problems = [...document.errors, ...document.warnings].map(({ pos, message }) => ({
    ...at(pos[0]),
    message: parserMessage(message),
  }))
  if (problems.length === 0) problems.push(...strayAliases(document, at))
  if (problems.length > 0) throw new BadDocument(problems)
  try {
    const value: unknown = document.toJS({ maxAliasCount: ALIASES })
    return { value, placeOf: (path) => at(offsetOf(document, path)) }
  } catch (error) {
    if (!(error instanceof ReferenceError)) throw error
    throw new BadDocument([{ line: 1, column: 1, message: 'the references (*) expand to more than the limit' }])
  }
}

/** Aliases that precede their anchor, or are inside it. */
function strayAliases(document: Document, at: (offset: number) => Place): (Place & { message: string })[] {
  const stray: (Place & { message: string })[] = []
  const known = new Set<string>()
  visit(document, {
    Node(_key, node, around) {
      if (isAlias(node)) {
        const place = at(node.range?.[0] ?? 0)
        const isInside = around.some((outer) => isCollection(outer) && outer.anchor === node.source)
        if (isInside) stray.push({ ...place, message: `"&${node.source}" contains itself` })
        else if (!known.has(node.source))
          stray.push({ ...place, message: `there is no "&${node.source}" before this point` })
      } else if (node.anchor !== undefined) known.add(node.anchor)
    },
  })
  return stray
}

/** The parser's message in our form: lower case, no full stop. */
const parserMessage = (message: string): string => {
  if (message.includes('Maximum call stack')) return 'this is nested too deeply'
  if (message.includes('multiple documents')) return 'a second document begins here, and only one is allowed'
  if (message === 'Map keys must be unique') return 'this name is given twice'
  const clause = message.split('\n')[0]!.replace(/[.:]$/, '')
  return clause.charAt(0).toLowerCase() + clause.slice(1)
}

/** Where the part at a path begins; for a value with a name, the name. */
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
