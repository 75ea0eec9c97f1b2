import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'
import { programs } from './support/postgres.ts'
import { SecondTryReporter } from './support/second-try-reporter.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const { version } = JSON.parse(readFileSync(`${root}package.json`, 'utf8')) as { version: string }
/** Where a report for programs goes, if one is wanted. */
const report = process.env['TEST_REPORT']

/** What has to hold on every engine runs a second time, on Postgres, where its programs are installed. */
const onPostgres = ['test/http/**/*.test.ts', 'test/domain/**/*.test.ts', 'test/storage/contents.test.ts']
/** These are about files of this machine, or damage one of SQLite. */
const aboutFiles = [
  'test/http/{ack-order,crash,killed-trees}.test.ts',
  'test/http/**/disk-full.test.ts',
  'test/domain/backups/**',
  'test/domain/instance/storage-check.test.ts',
]

export default defineConfig({
  root,
  // The same constants as in bin/build.js.
  define: { __SVC_VERSION__: JSON.stringify(version) },
  test: {
    setupFiles: ['test/support/setup.ts'],
    pool: 'forks',
    maxWorkers: 2,
    testTimeout: 30_000,
    hookTimeout: 60_000,
    reporters: ['default', new SecondTryReporter(), ...(report ? ['json'] : [])],
    ...(report ? { outputFile: { json: report } } : {}),
    projects: [
      { extends: true, test: { name: 'sqlite', include: ['test/**/*.test.ts'] } },
      ...(programs === undefined
        ? []
        : [
            {
              extends: true as const,
              test: {
                name: 'postgres',
                include: onPostgres,
                exclude: aboutFiles,
                globalSetup: ['test/support/postgres-setup.ts'],
              },
            },
          ]),
    ],
  },
})
