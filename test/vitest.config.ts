import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'
import { BuildReporter } from './support/build-reporter.ts'
import { cheapHashing } from './support/cheap-hashing.ts'
import { LongestFirst } from './support/longest-first.ts'
import { programs } from './support/postgres.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const { version } = JSON.parse(readFileSync(`${root}package.json`, 'utf8')) as { version: string }
/** Where a report for programs goes, if one is wanted. */
const report = process.env['TEST_REPORT']
/** Not the mode that Vitest hands to a function: the configuration of a project gets another one. */
const isAll = process.argv.join(' ').includes('--mode all')
/** Whoever names files wants them, whether they explore or not. */
const isNamed = process.argv
  .slice(2)
  .some((argument) => /^[^-]*\btest\/|\.test\.ts$/.test(argument) && !argument.endsWith('vitest.config.ts'))

/**
 * These look for what nobody thought of, with many seeds, kills or combinations, or drive a browser where few changes reach; they
 * run with `npm run test:all` or by name.
 */
const exploring = [
  'test/recovery.test.ts',
  'test/bench/**',
  'test/cli/ask/ask.test.ts',
  'test/cli/{away-store,chat,chat.tmux,damaged-backup,damaged-key,data-offline,ends,external-database}.test.ts',
  'test/cli/{full-disk,interrupted,lost-database,moved-database,silent-store,sync-hostile,sync-large-tree}.test.ts',
  'test/cli/{account-commands,backup-bucket,backup-jobs,backup-stream,rewind,sync-watch}.test.ts',
  'test/client/faults/**',
  'test/client/replica/converge.property.test.ts',
  'test/client/sync/large-files.test.ts',
  'test/client/sync/plan/plan.property.test.ts',
  'test/desktop/{admin,app-manager,assistant,back-button,calendar}.test.ts',
  'test/desktop/{calendar-calendars,calendar-recurrence,components}.test.ts',
  'test/desktop/{components-app,custom-app,deep-link,external-app,files,files-archive,formatted-text}.test.ts',
  'test/desktop/{broker,calendar-files,installation,row-files,webrtc-removal}.test.ts',
  'test/desktop/{languages,notes,outage,pdf,prewarmed-frame,reminders,rows,settings,tasks}.test.ts',
  'test/domain/instance/storage-check.test.ts',
  'test/domain/portability/hostile.test.ts',
  'test/http/{ack-order,addresses,admin-backups,crash,disk-bound.property,filesystem-feed,filling-trees,killed-trees}.test.ts',
  'test/http/{large-trees,limiter.property,long-reads,removal-slices,silent-bucket,soundness}.test.ts',
  'test/http/assistant/{model-errors,strange-models}.test.ts',
  'test/package/{debian,install,walks}.test.ts',
  'test/storage/backups/{page-stream,stream-ends}.test.ts',
  'test/storage/blobs.test.ts',
  'test/storage/{postgres,s3-contents,s3-faults,s3-removal}.test.ts',
  'test/templates/{compose-cluster,proxies}.test.ts',
  'test/wiring/backups/{backups,hostile-backups,killed-backups,stream-chapters,stream-contents,stream-read-only}.test.ts',
  'test/wiring/backups/unchanged-backups.test.ts',
  'test/wiring/write-scopes.test.ts',
  'test/wiring/installation/{large-upgrade,upgrade}.test.ts',
  'test/wiring/{contended-rooms,killed-rooms,patroni,postgres-outages,rolling-upgrade,several-servers,shared-limits}.test.ts',
  'test/wiring/{history,simulation}/**',
]

/** What has to hold on every engine runs a second time, on Postgres, where its programs are installed. */
const onPostgres = ['test/http/**/*.test.ts', 'test/domain/**/*.test.ts', 'test/storage/contents.test.ts']
/** Of those, what two engines do most differently: it runs with every change. */
const differing = ['test/http/{feed,parallel-sync,wait}.test.ts']
/** These are about files of this machine, or damage one of SQLite. */
const aboutFiles = [
  'test/http/{ack-order,crash,killed-trees}.test.ts',
  'test/http/**/disk-full.test.ts',
  'test/domain/backups/**',
  'test/domain/instance/storage-check.test.ts',
]
/** What these test is decided before a row is read, or concerns connections, models and texts. */
const engineless = [
  'test/http/{addresses,app-files,bucket-gone,csrf,documented,event-stream,judged-by-headers,limiter.property}.test.ts',
  'test/http/{limits,many-connections,paths,pipelining,read-only,refused-uploads,security-headers,service}.test.ts',
  'test/http/{slow-bodies,thumbnails,tiny-chunks}.test.ts',
  'test/http/assistant/{model-errors,strange-models}.test.ts',
  'test/domain/accounts/{address-throttle,common-passwords,job-queue,lockout,look-alikes,sealing,totp}.test.ts',
  'test/domain/assistant/title.test.ts',
  'test/domain/{chat,files}/**',
  'test/domain/desktop/app-package.test.ts',
  'test/domain/news.test.ts',
]

/** Files that replace modules of Node or of svc share theirs with no other file. */
const mocking = readdirSync(`${root}test`, { recursive: true, encoding: 'utf8' })
  .map((name) => `test/${name.replaceAll('\\', '/')}`)
  .filter((path) => path.endsWith('.test.ts') && readFileSync(`${root}${path}`, 'utf8').includes('vi.mock('))
/** Neither do those that have to hash like the built command. */
const apart = [...mocking, 'test/cli/account-commands.test.ts']

const later = isAll || isNamed ? [] : exploring
const seeds = process.env['SIMULATE_SEEDS'] ?? (isAll ? '120' : '40')
/** What tests of several forms ask with test/support/explores.ts. */
const explores = isAll || isNamed ? 'on' : 'off'

export default defineConfig({
  root,
  // The same constants as in bin/build.js.
  define: { __SVC_VERSION__: JSON.stringify(version) },
  test: {
    setupFiles: ['test/support/setup.ts'],
    pool: 'forks',
    maxWorkers: 2,
    // Files of a worker share the modules of src, which cost more to load than most of them to run.
    isolate: false,
    // A test makes much garbage that lives for one request: in a large young generation little of it has to be copied.
    execArgv: ['--max-semi-space-size=64'],
    sequence: { sequencer: LongestFirst },
    unstubEnvs: true,
    env: { SIMULATE_SEEDS: seeds, EXPLORE: explores },
    experimental: { fsModuleCache: true, fsModuleCachePath: 'node_modules/.cache/vitest' },
    // No machine is so slow: what meets one of these hangs.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 30_000 } },
    reporters: ['default', new BuildReporter(), ...(report ? ['json'] : [])],
    ...(report ? { outputFile: { json: report } } : {}),
    projects: [
      {
        extends: true as const,
        plugins: [cheapHashing],
        test: { name: 'sqlite', include: ['test/**/*.test.ts'], exclude: [...later, ...apart] },
      },
      {
        extends: true as const,
        test: { name: 'apart', include: apart, exclude: later, isolate: true },
      },
      ...(programs === undefined
        ? []
        : [
            {
              extends: true as const,
              plugins: [cheapHashing],
              test: {
                name: 'postgres',
                include: isAll ? onPostgres : differing,
                exclude: [...aboutFiles, ...engineless],
                globalSetup: ['test/support/postgres-setup.ts'],
              },
            },
          ]),
    ],
  },
})
