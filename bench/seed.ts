import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openLocal } from '../src/wiring/local-domain.ts'
import { planSeedFile } from '../src/wiring/seed/seed-file.ts'
import { withDatabase } from './account.ts'
import type { Figure } from './figure.ts'
import { INSERT, TABLE } from './push.ts'
import { duration, interleave, share } from './rounds.ts'
import { noteOf, numbers } from './samples.ts'
import { createDurably } from './small-files.ts'
import type { Workspace } from './workspace.ts'

const ROWS = 10_000
const FILES = 1_000
const TOGETHER = 500
const workers = numbers(8)

const notes = numbers(ROWS).map(noteOf)
const textOf = (number: number): string => `${noteOf(number).content}\n`.repeat(1 + (number % 40))

/** A seed as written by another program. */
const document = (): string =>
  JSON.stringify({
    users: [
      {
        username: 'ada',
        password_hash: `$argon2id$v=19$m=19456,t=2,p=1$${'A'.repeat(22)}$${'A'.repeat(43)}`,
        rows: { svc_notes: notes.map((note, number) => ({ key: `note-${number}`, ...note })) },
        files: numbers(FILES).map((number) => ({
          path: `/Folder ${number % 20}/file-${number}.txt`,
          text: textOf(number),
        })),
      },
    ],
  })

/** From the text of the seed to durable content in an empty data directory. */
async function ours(workspace: Workspace): Promise<number> {
  const file = join(workspace.folder('seed'), 'seed.json')
  writeFileSync(file, document())
  const local = await openLocal({ dataDir: workspace.folder('data'), env: {} })
  try {
    return await duration(async () => (await planSeedFile(local.domain.seeding, { file })).apply())
  } finally {
    await local.close()
  }
}

/** The rows without feed or checks, and the files without tree or quota. */
async function peer(workspace: Workspace): Promise<number> {
  const folder = workspace.folder('raw')
  const files = numbers(FILES).map((number) => ({ name: `file-${number}.txt`, data: Buffer.from(textOf(number)) }))
  return withDatabase(join(folder, 'peer.db'), (database) => {
    database.exec(TABLE)
    const insert = database.prepare(INSERT)
    const insertAll = database.transaction((some: typeof notes) => {
      const now = new Date().toISOString()
      for (const { title, content, category, pinned, color } of some)
        insert.run(1, now, now, title, content, category, pinned ? 1 : 0, color)
    })
    return duration(async () => {
      for (let first = 0; first < ROWS; first += TOGETHER) insertAll.immediate(notes.slice(first, first + TOGETHER))
      await share(workers, files, (_, file) => createDurably(folder, file))
    })
  })
}

/** The cost of a seed beyond its content: validation, the feed, and the record of created items. */
export const seed: Figure = {
  name: 'seed',
  unit: 'ms',
  peer: 'prepared INSERTs of the rows, and the files created durably',
  wanted: { most: 1.5 },
  measure: (workspace) => interleave({ ours: () => ours(workspace), peer: () => peer(workspace), rounds: 7 }),
}
