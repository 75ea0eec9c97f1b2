import { formatCount } from '../../base/counts.ts'
import { printable } from '../../base/text.ts'
import type { Item, Made, Plan } from '../../domain/seed/seed.ts'
import { command, flag } from '../command.ts'
import { usage } from '../exit.ts'
import type { Io } from '../io.ts'
import { makeProgress } from '../progress.ts'
import { seedSummary } from '../seed-summary.ts'

export const seed = command({
  name: 'seed',
  summary: 'Create users, settings, apps, rooms, rows and files from one YAML or JSON file',
  details:
    'The whole file is checked before anything is written, and every problem is reported with its line. Run again, it creates only ' +
    'what is missing. Nothing is deleted, and what users changed or removed stays that way.\n' +
    'svc template show sample-seed is a seed to begin with; --schema prints the format as JSON Schema, for editors.',
  needs: 'domain',
  createsDataDirectory: true,
  args: { file: { summary: 'YAML or JSON file, or - for standard input', optional: true } },
  flags: {
    dryRun: flag.switch('show what would be done, line by line, and change nothing'),
    base: flag.text('folder of the files that the seed names (that of the seed)', 'DIR'),
    resetPasswords: flag.switch('set the passwords of existing accounts from the seed'),
    schema: flag.switch('print the JSON Schema of the format'),
  },
  examples: ['svc seed team.yaml', 'svc seed team.yaml --dry-run', 'svc seed - --base ./content < team.yaml'],
  async run({ io, domain: { seeding }, args, flags }) {
    if (flags.schema) {
      const { seedSchema } = await import('../../domain/seed/seed.ts')
      const schema = seedSchema()
      return io.print(JSON.stringify(schema, null, 2), schema)
    }
    if (args.file === undefined) throw usage('Give the seed: svc seed FILE, or - for standard input.')
    const { planSeedFile } = await import('../../wiring/seed/seed-file.ts')
    const origin = { file: args.file, input: io.input(), base: flags.base }
    const plan = await planSeedFile(seeding, origin, { resetPasswords: flags.resetPasswords })
    if (plan.plainPasswords > 0)
      io.warn('The seed contains passwords in plain text: keep it secret, or use password_file or password_hash.')
    if (plan.tokens.length > 0)
      io.info('Only svc serve --seed with a ready file creates tokens; svc token mint creates one on this machine.')
    if (flags.dryRun) return show(io, plan)
    await executePlan(io, plan)
  },
})

const MARKS = { add: '+', change: '~', keep: '!' } as const

const lineOf = (io: Io, { action, text }: Item): string => {
  const line = `${MARKS[action]} ${printable(text)}`
  if (action === 'keep') return io.paint.yellow(line)
  return action === 'add' ? io.paint.green(line) : io.paint.cyan(line)
}

function show(io: Io, { items, unchanged }: Plan): void {
  const lines = items.map((item) => lineOf(io, item))
  if (unchanged > 0 || items.length === 0) lines.push(`= ${formatCount(unchanged)} unchanged`)
  io.print(lines.join('\n'), { dry_run: true, items, unchanged })
}

async function executePlan(io: Io, plan: Plan): Promise<void> {
  const { items, unchanged } = plan
  const secrets: Made[] = []
  const progress = makeProgress({
    label: 'Seeding',
    total: items.filter(({ action }) => action !== 'keep').length,
    format: (amount) => formatCount(Math.round(amount)),
  })
  try {
    await plan.apply({
      done: (count) => progress.add(count),
      made(secret) {
        secrets.push(secret)
        if (io.json) return
        // Print passwords now: a later failure would lose them.
        progress.end()
        io.eventAlways(`Password of ${secret.username}, not shown again: ${secret.secret}`, undefined)
      },
    })
  } catch (error) {
    if (io.json && secrets.length > 0) io.printAlways('', { completed: false, ...secretsOf(secrets) })
    throw error
  } finally {
    progress.end()
  }
  for (const item of items.filter(({ action }) => action === 'keep')) io.info(lineOf(io, item))
  const say = io.json && secrets.length > 0 ? io.printAlways : io.print
  say(seedSummary(items, unchanged), { completed: true, items, unchanged, ...secretsOf(secrets) })
}

const secretsOf = (secrets: readonly Made[]) => ({
  passwords: Object.fromEntries(secrets.map(({ username, secret }) => [username, secret])),
})
