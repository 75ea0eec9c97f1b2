import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'
import { BuildReporter } from './support/build-reporter.ts'
import { programs } from './support/postgres.ts'
import { SecondTryReporter } from './support/second-try-reporter.ts'
import { ByProject } from './support/sequencer.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const { version } = JSON.parse(readFileSync(`${root}package.json`, 'utf8')) as { version: string }
/** Where a report for programs goes, if one is wanted. */
const report = process.env['TEST_REPORT']
/** Whoever names files wants them, whether they explore or not. */
const isNamed = process.argv
  .slice(2)
  .some((argument) => /^[^-].*\btest\b/.test(argument) && !argument.endsWith('vitest.config.ts'))

/** They replace modules of the server, and so share none with other files. */
const isolated = [
  'test/client/sync/late-decisions.test.ts',
  'test/client/simulation/simulation.test.ts',
  'test/host/file-lock.test.ts',
]

/** These look for what nobody thought of, with many seeds, kills or combinations; they run with `npm run test:all` or by name. */
const exploring = [
  'test/bench/**',
  'test/cli/{ends,interrupted,lost-database,sync-hostile,sync-large-tree}.test.ts',
  'test/client/faults/**',
  'test/domain/instance/storage-check.test.ts',
  'test/http/{crash,disk-bound.property,filesystem-feed,killed-trees,large-trees,limiter.property,removal-slices,soundness}.test.ts',
  'test/package/install.test.ts',
  'test/templates/{compose-cluster,proxies}.test.ts',
  'test/wiring/{hostile-backups,killed-backups,postgres-outages,several-servers}.test.ts',
  'test/wiring/simulation/**',
]

/** What has to hold on every engine runs a second time, on Postgres, where its programs are installed. */
const onPostgres = ['test/http/**/*.test.ts', 'test/domain/**/*.test.ts', 'test/storage/contents.test.ts']
/** Of those, what two engines do most differently: it runs with every change. */
const differing = ['test/http/{batches,feed,parallel-sync,push,wait}.test.ts', 'test/storage/contents.test.ts']
/** These are about files of this machine, or damage one of SQLite. */
const aboutFiles = [
  'test/http/{ack-order,crash,killed-trees}.test.ts',
  'test/http/**/disk-full.test.ts',
  'test/domain/backups/**',
  'test/domain/instance/storage-check.test.ts',
]

export default defineConfig(({ mode }) => {
  const isAll = mode === 'all'
  const later = isAll || isNamed ? [] : exploring
  const seeds = process.env['SIMULATE_SEEDS'] ?? (isAll ? '2000' : '60')
  return {
    root,
    // The same constants as in bin/build.js.
    define: { __SVC_VERSION__: JSON.stringify(version) },
    test: {
      setupFiles: ['test/support/setup.ts'],
      pool: 'forks',
      // Tests wait for processes and browsers: three keep two cores busy.
      maxWorkers: isAll ? 2 : 3,
      isolate: false,
      unstubEnvs: true,
      env: { SIMULATE_SEEDS: seeds },
      experimental: { fsModuleCache: true, fsModuleCachePath: 'node_modules/.cache/vitest' },
      sequence: { sequencer: ByProject },
      testTimeout: 30_000,
      hookTimeout: 60_000,
      reporters: ['default', new BuildReporter(), new SecondTryReporter(), ...(report ? ['json'] : [])],
      ...(report ? { outputFile: { json: report } } : {}),
      projects: [
        {
          extends: true as const,
          test: { name: 'sqlite', include: ['test/**/*.test.ts'], exclude: [...isolated, ...later] },
        },
        { extends: true as const, test: { name: 'isolated', include: isolated, exclude: later, isolate: true } },
        ...(programs === undefined
          ? []
          : [
              {
                extends: true as const,
                test: {
                  name: 'postgres',
                  include: isAll ? onPostgres : differing,
                  exclude: aboutFiles,
                  globalSetup: ['test/support/postgres-setup.ts'],
                },
              },
            ]),
      ],
    },
  }
})
