import type { TestProject } from 'vitest/node'
import { startPostgres, type Cluster } from './postgres.ts'

let clusters: Cluster[] = []

/** One server per worker, so that a test file has it exclusively. */
export async function setup(project: TestProject): Promise<void> {
  const workers = Number(project.vitest.config.maxWorkers)
  clusters = await Promise.all(Array.from({ length: workers }, () => startPostgres()))
  project.provide(
    'postgres',
    clusters.map(({ url }) => url),
  )
}

export async function teardown(): Promise<void> {
  await Promise.all(clusters.map((cluster) => cluster.stop()))
}
