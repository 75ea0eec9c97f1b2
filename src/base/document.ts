import { strictJsonProblem, offsetIn } from './json-positions.ts'
import { BadDocument, type Place, type PlacedDocument } from './document-positions.ts'
import { byteLength } from './text.ts'

export { BadDocument, type Path, type Place, type PlacedDocument } from './document-positions.ts'

/** Size limits in bytes. The YAML parser reads only a few hundred kilobytes a second. */
const LARGEST = { yaml: 8 * 1024 * 1024, json: 256 * 1024 * 1024 } as const

/** Reads one YAML 1.2 or JSON document. Throws `BadDocument`, also for duplicate names and aliases that expand too far. */
export async function readDocument(text: string): Promise<PlacedDocument> {
  const source = text.replace(/^\ufeff/, '')
  if (/^\s*[[{]/.test(source)) {
    const value = asJson(source)
    if (value) return value
  }
  if (byteLength(source) > LARGEST.yaml) throw tooLarge('YAML', LARGEST.yaml)
  // A large module, and JSON does not need it.
  const { readYaml } = await import('./yaml-document.ts')
  return readYaml(source)
}

function asJson(source: string): PlacedDocument | undefined {
  if (byteLength(source) > LARGEST.json) throw tooLarge('JSON', LARGEST.json)
  let value: unknown
  try {
    value = JSON.parse(source)
  } catch {
    // The YAML parser also accepts JSON and reports its errors better.
    return undefined
  }
  const problem = strictJsonProblem(source)
  if (problem) throw new BadDocument([{ ...placeAt(source, problem.offset), message: problem.message }])
  return { value, placeOf: (path) => placeAt(source, offsetIn(source, path)) }
}

const tooLarge = (kind: string, limit: number): BadDocument =>
  new BadDocument([{ line: 1, column: 1, message: `${kind} may have at most ${limit / 1024 / 1024} MiB` }])

function placeAt(source: string, offset: number): Place {
  const before = source.slice(0, offset)
  const lastBreak = before.lastIndexOf('\n')
  let line = 1
  for (let at = before.indexOf('\n'); at >= 0; at = before.indexOf('\n', at + 1)) line += 1
  return { line, column: offset - lastBreak }
}
