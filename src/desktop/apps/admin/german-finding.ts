import { readFindingText } from '../../../contract/finding-texts.ts'
import { germanFindings } from './german-findings.ts'

/** A finding or remedy in German; a text that is none of the contract, such as the message of a system error, stays as it is. */
export function germanFinding(text: string): string {
  const read = readFindingText(text)
  if (!read) return text.replace(/(\d)\.(\d+ [KMGTP]?B)$/, '$1,$2')
  return germanFindings[read.key].replace(/\{(\w+)\}/g, (_, name: string) => germanFinding(read.values[name] ?? ''))
}
