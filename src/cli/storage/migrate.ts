import { formatCount } from '../../base/counts.ts'
import { formatSize } from '../../base/sizes.ts'
import { command, flag } from '../command.ts'
import { usage } from '../exit.ts'
import { withProgress } from '../progress.ts'

/** Every user of the machine can read a password in an argument. */
const holdsPassword = (url: string): boolean => URL.canParse(url) && new URL(url).password !== ''

export const migrate = command({
  name: 'storage migrate',
  summary: 'Move rows to Postgres or contents to an S3 bucket, and back',
  details:
    'Rows move to postgres://USER@HOST/NAME, an empty database, or back to sqlite: in the data directory. Contents of files above 64 KiB move to ' +
    's3://BUCKET/PREFIX?endpoint=URL&region=NAME, or back to disk:. Stop every server first: contents are copied while one may still run, ' +
    'but everything else only when none does. The originals stay in their old place, unused.\n\n' +
    'Give a URL with a password on standard input (--to -), because other users of this machine can see arguments. The keys of a bucket are AWS_ACCESS_KEY_ID and ' +
    'AWS_SECRET_ACCESS_KEY in the environment.',
  needs: 'nothing',
  args: {},
  flags: {
    to: flag.text('destination: postgres://…, s3://…, sqlite: or disk:; - reads it from standard input', 'URL'),
  },
  examples: [
    'svc storage migrate --to - < database-address',
    "svc storage migrate --to 's3://svc-files?endpoint=https://s3.example.org'",
    'svc storage migrate --to sqlite:',
  ],
  async run({ io, globals, flags }) {
    if (flags.to === undefined) throw usage('Give a destination: --to postgres://…, s3://…, sqlite: or disk:.')
    if (holdsPassword(flags.to))
      throw usage(
        'Other users of this machine can see arguments: give a URL with a password on standard input (--to -).',
      )
    const to = flags.to === '-' ? (await io.stdin()).trim() : flags.to
    const [{ moveStorage }, { environment }] = await Promise.all([
      import('../../wiring/storage-move.ts'),
      import('../../wiring/config/environment.ts'),
    ])
    const moved = await withProgress('Moving', (job) =>
      moveStorage({ dataDir: globals.dataDir, env: environment }, to, job),
    )
    const { what, contents, bytes, left, variable } = moved
    const said =
      what === 'rows'
        ? 'Every row has moved.'
        : `${formatCount(contents)} ${contents === 1 ? 'content has' : 'contents have'} moved (${formatSize(bytes)}).`
    io.print(`${said} The old data is still in ${left}; remove it when everything works.`, {
      ...moved,
      variable: variable ?? null,
    })
    if (variable === undefined) return 0
    io.warn(`${variable} still names the old place: change it before the next start.`)
    return 3
  },
})
