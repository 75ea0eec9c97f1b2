import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** Files that take longest, longest first; the rest follows. A file too many or too few here changes nothing but the order. */
const LONGEST = [
  'client/simulation/simulation',
  'http/every-action',
  'package/walks',
  'wiring/patroni',
  'cli/scripts',
  'client/faults/kills',
  'desktop/assistant',
  'cli/ends',
  'recovery',
  'desktop/admin',
  'wiring/several-servers',
  'cli/backup-stream',
  'docs',
  'bench/attack',
  'client/faults/table',
  'wiring/simulation/simulation',
  'desktop/rows',
  'desktop/files',
  'domain/instance/storage-check',
  'desktop/components-app',
  'desktop/pdf',
  'package/install',
  'cli/interrupted',
  'cli/sync-large-tree',
  'desktop/app-manager',
  'wiring/backups/killed-backups',
  'desktop/chat',
  'http/large-trees',
  'http/read-only',
  'desktop/windows',
  'http/soundness',
  'storage/postgres',
  'desktop/formatted-text',
  'cli/moved-database',
]

const rankOf = ({ moduleId }: TestSpecification): number => {
  const rank = LONGEST.findIndex((name) => moduleId.endsWith(`/test/${name}.test.ts`))
  return rank === -1 ? LONGEST.length : rank
}

/**
 * Starts the longest files of each project first, so that no worker is left with one when the other has finished. Vitest itself
 * knows how long a file took only where it ran before, which a fresh clone has not.
 */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    const projects = [...new Set(sorted.map(({ project }) => project.name))]
    const orderOf = ({ project }: TestSpecification): number => projects.indexOf(project.name)
    return sorted.sort((a, b) => orderOf(a) - orderOf(b) || rankOf(a) - rankOf(b))
  }
}
