import { readableOf, type Topic } from '../base/help-topics.ts'
import type { Io } from './io.ts'
import { parseBlocks, renderBlocks } from './markdown.ts'

/** Text of each page, loaded on demand. */
const pages: Record<Topic, () => Promise<{ default: string }>> = {
  'getting-started': () => import('../docs/getting-started.md'),
  synchronisation: () => import('../docs/synchronisation.md'),
  'team-chat': () => import('../docs/team-chat.md'),
  writing: () => import('../docs/writing.md'),
  calendar: () => import('../docs/calendar.md'),
  'import-and-export': () => import('../docs/import-and-export.md'),
  assistant: () => import('../docs/assistant.md'),
  administration: () => import('../docs/administration.md'),
  recovery: () => import('../docs/recovery.md'),
  'disk-died': () => import('../docs/disk-died.md'),
  'database-damaged': () => import('../docs/database-damaged.md'),
  'locked-out': () => import('../docs/locked-out.md'),
  'leaked-token': () => import('../docs/leaked-token.md'),
  ransomware: () => import('../docs/ransomware.md'),
  'wrong-deletion': () => import('../docs/wrong-deletion.md'),
  'full-disk': () => import('../docs/full-disk.md'),
  'moved-server': () => import('../docs/moved-server.md'),
  security: () => import('../docs/security.md'),
  'backup-and-restore': () => import('../docs/backup-and-restore.md'),
  durability: () => import('../docs/durability.md'),
  'disk-space': () => import('../docs/disk-space.md'),
  'several-machines': () => import('../docs/several-machines.md'),
  'http-api': () => import('../docs/http-api.md'),
  'desktop-apps': () => import('../docs/desktop-apps.md'),
  'seed-format': () => import('../docs/seed-format.md'),
  'archive-format': () => import('../docs/archive-format.md'),
  performance: () => import('../docs/performance.md'),
}

/** Widest line of text, columns: longer lines are hard to read. */
const WIDEST = 100

/** Replaces links to pages with the commands that show them, and removes links within the page. */
const linksAsCommands = (markdown: string): string =>
  readableOf(markdown, (label, topic) => `${label} (\`svc help ${topic}\`)`).replace(/\[([^\]]*)\]\(#[a-z-]*\)/g, '$1')

export async function printTopic(topic: Topic, io: Io): Promise<void> {
  const { default: markdown } = await pages[topic]()
  const width = Math.min(process.stdout.columns || WIDEST, WIDEST)
  io.print(renderBlocks(parseBlocks(linksAsCommands(markdown)), { paint: io.paint, width }).join('\n'), {
    topic,
    markdown,
  })
}
