import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { onTestFinished } from 'vitest'
import type { Made, Plan, SeedOptions } from '../../../src/domain/seed/seed.ts'
import { openLocal, type Local } from '../../../src/wiring/local-domain.ts'
import { BadSeedFile, planSeedFile } from '../../../src/wiring/seed/seed-file.ts'
import { folderOfTest } from '../../support/server.ts'

export interface World {
  local: Local
  dataDir: string
  /** The folder of the seed. */
  folder: string
  /** Writes a file beside the seed. */
  write(name: string, content: string | Uint8Array): void
  plan(seed: string, wishes?: SeedOptions): Promise<Plan>
  /** Carries a seed out and gives its lines; the count of what was unchanged stands last. */
  seed(seed: string, wishes?: SeedOptions): Promise<string[]>
  /** The problems a seed is refused with. */
  problems(seed: string, wishes?: SeedOptions): Promise<string[]>
  /** Secrets that were made. */
  made: Made[]
  id(username: string): Promise<number>
}

const MARKS = { add: '+', change: '~', keep: '!' } as const

export const linesOf = ({ items, unchanged }: Plan): string[] => [
  ...items.map(({ action, text }) => `${MARKS[action]} ${text}`),
  `= ${unchanged}`,
]

/** A data directory and a folder with a seed. */
export async function makeWorld(env: NodeJS.ProcessEnv = {}): Promise<World> {
  const [dataDir, folder] = [await folderOfTest(), await folderOfTest()]
  const local = await openLocal({ dataDir, env })
  onTestFinished(() => local.close())
  const file = join(folder, 'seed.yaml')
  const write: World['write'] = (name, content) => {
    mkdirSync(dirname(join(folder, name)), { recursive: true })
    writeFileSync(join(folder, name), content)
  }
  const made: Made[] = []
  const plan: World['plan'] = (seed, wishes) => {
    write('seed.yaml', seed)
    return planSeedFile(local.domain.seeding, { file }, wishes)
  }
  return {
    local,
    dataDir,
    folder,
    write,
    plan,
    made,
    async seed(seed, wishes) {
      const planned = await plan(seed, wishes)
      await planned.apply({ made: (secret) => void made.push(secret) })
      return linesOf(planned)
    },
    problems: (seed, wishes) =>
      plan(seed, wishes).then(
        () => [],
        (error: unknown) => {
          if (!(error instanceof BadSeedFile)) throw error
          return error.message
            .split('\n')
            .slice(1)
            .map((line) => line.slice(file.length + 1))
        },
      ),
    id: async (username) => (await local.domain.accounts.byName(username)).id,
  }
}
