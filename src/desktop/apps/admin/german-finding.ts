import { readFindingText } from '../../../contract/finding-texts.ts'
import { germanFindings } from './german-findings.ts'

/** Translates a finding or remedy; unknown texts, such as system errors, stay as they are. */
export function germanFinding(text: string): string {
  const read = readFindingText(text)
  if (!read) return text.replace(/(\d)\.(\d+ [KMGTP]?B)$/, '$1,$2')
  return germanFindings[read.key].replace(/\{(\w+)\}/g, (_, name: string) => germanFinding(read.values[name] ?? ''))
}
