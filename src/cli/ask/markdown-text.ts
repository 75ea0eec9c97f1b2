import type { ChalkInstance } from 'chalk'
import { printable } from '../../base/text.ts'
import { parseBlocks, renderBlocks } from '../markdown.ts'

const WIDEST = 100

/** Removes control characters except line breaks. */
export const plainText = (text: string): string =>
  text
    .replace(/\r\n?/g, '\n')
    .split('\n')
    .map((line) => line.split('\t').map(printable).join('\t'))
    .join('\n')

/** Renders Markdown on a terminal; elsewhere returns it unchanged. */
export function renderMarkdown(markdown: string, paint: ChalkInstance): string {
  const { isTTY, columns } = process.stdout
  if (!isTTY) return plainText(markdown)
  return renderBlocks(parseBlocks(markdown), { paint, width: Math.max(20, Math.min(WIDEST, columns - 1)) }).join('\n')
}
