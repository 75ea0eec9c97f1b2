import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'
import { SecondTryReporter } from './support/second-try-reporter.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const { version } = JSON.parse(readFileSync(`${root}package.json`, 'utf8')) as { version: string }
/** Where a report for programs goes, if one is wanted. */
const report = process.env['TEST_REPORT']

export default defineConfig({
  root,
  // The same constants as in bin/build.js.
  define: { __SVC_VERSION__: JSON.stringify(version) },
  test: {
    include: ['test/**/*.test.ts'],
    pool: 'forks',
    maxWorkers: 2,
    testTimeout: 30_000,
    hookTimeout: 60_000,
    reporters: ['default', new SecondTryReporter(), ...(report ? ['json'] : [])],
    ...(report ? { outputFile: { json: report } } : {}),
  },
})
