import { open, readFile, rm, cp, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, expect, onTestFinished, test } from 'vitest'
import { bytesOf } from './support/contents.ts'
import { done } from './support/outside.ts'
import { badDayPages, pageText, stepsOf } from './support/pages.ts'
import { folderOfFile, folderOfTest } from './support/server.ts'
import { runShell } from './support/shell.ts'
import { fill, smallDisk } from './support/small-disk.ts'

// Each page about a bad day is run as written, on an installation to which that happened.

const PASSWORD = 'analytical engine'
const CAT = bytesOf(100_000, 1)
const DOG = bytesOf(100_000, 2)

/** Stands for the machine: `systemctl` starts and stops one server, `as` signs in for the commands of users. */
const MACHINE = `
sudo() { "$@"; }
systemctl() {
  if [ "$1" = stop ]; then
    [ -e "$HOME/ready.json" ] || return 0
    kill "$(ready pid)"
    while [ -e "$HOME/ready.json" ]; do sleep 0.05; done
  else
    svc serve --port 0 --ready-file "$HOME/ready.json" > "$HOME/log" 2>&1 &
    while ! [ -e "$HOME/ready.json" ]; do kill -0 $! && sleep 0.05 || return 1; done
  fi
}
ready() { grep -o "$1"'":[^,]*' "$HOME/ready.json" | cut -d: -f2- | tr -d '"'; }
as() { export SVC_URL="$(ready url)" SVC_TOKEN="$(svc token mint --user "$1")"; }
status() { curl -s -o /dev/null -w '%{http_code}\n' "$(ready url)/api/sync/files.php?action=manifest" -H "authorization: Bearer $1"; }
`

const used = await folderOfFile()

beforeAll(async () => {
  const files = (['cat', 'dog'] as const).map((name) => ({ path: `/Photos/${name}.jpg`, from: `${name}.jpg` }))
  await writeFile(join(used, 'cat.jpg'), CAT)
  await writeFile(join(used, 'dog.jpg'), DOG)
  const users = ['ada', 'bob'].map((username) => ({ username, password: PASSWORD, files }))
  await writeFile(
    join(used, 'seed.json'),
    JSON.stringify({
      version: 1,
      users: [...users, { username: 'root', password: PASSWORD }].map((user) => ({ ...user, role: 'admin' })),
    }),
  )
  const data = join(used, 'srv-svc')
  await done(data, 'seed', join(used, 'seed.json'))
  await done(data, 'backup', 'schedule', '30 3 * * *', '--to', join(used, 'backups'))
  await done(data, 'backup', 'create')
})

async function machine({ srv }: { srv?: string } = {}) {
  const home = await folderOfTest()
  const prefix = srv ?? join(home, 'srv-')
  await cp(join(used, 'srv-svc'), `${prefix}svc`, { recursive: true })
  await cp(join(used, 'backups'), join(home, 'backups'), { recursive: true })
  const localized = (line: string): string =>
    line
      .replaceAll('/mnt/backup/svc', join(home, 'backups'))
      .replaceAll('/srv/svc-large', join(home, 'large'))
      .replaceAll('/srv/', prefix)
  const at = { home, cwd: home, env: { SVC_DATA_DIR: `${prefix}svc` } }
  const run = async (script: string) => {
    const { code, stdout, stderr } = await runShell(MACHINE + localized(script), at)
    expect([script, code, stderr]).toEqual([script, 0, stderr])
    return stdout
  }
  onTestFinished(() => run('systemctl stop svc').then(() => undefined))
  return { home, data: `${prefix}svc`, localized, at, run }
}

type Machine = Awaited<ReturnType<typeof machine>>

/** What printed the command of a page. */
type Outputs = Record<string, string>

interface Day {
  where?: () => Promise<{ srv?: string }>
  /** What happens before the page is opened. */
  happens?: (on: Machine) => Promise<unknown>
  /** Commands before one of the page, which the page leaves to its reader. */
  first?: Record<string, string>
  /** Exit codes that say what happened. */
  ends?: Record<string, number>
  after: (on: Machine, outputs: Outputs) => Promise<unknown>
}

async function expectFiles({ run, home }: Machine, ...users: string[]) {
  for (const user of users) {
    await run(`as ${user}; svc files get /Photos/cat.jpg cat-of-${user}; svc files get /Photos/dog.jpg dog-of-${user}`)
    const found = ['cat', 'dog'].map((name) => readFile(join(home, `${name}-of-${user}`)))
    expect((await Promise.all(found)).map((bytes, index) => bytes.equals([CAT, DOG][index]!))).toEqual([true, true])
  }
}

/** Stands for the newest backup in the pages. */
const ID = '20261126-031500-a1b2'

const days: Record<string, Day> = {
  'bad-days': { after: ({ run }) => run('svc doctor') },
  'disk-died': {
    happens: ({ data }) => rm(data, { recursive: true }),
    after: (on) => expectFiles(on, 'ada', 'bob'),
  },
  'database-damaged': {
    async happens({ data }) {
      const file = await open(join(data, 'svc.db'), 'r+')
      const { size } = await file.stat()
      await file.write(Buffer.alloc(size - 4_096, 0xa5), 0, size - 4_096, 4_096)
      await file.close()
    },
    ends: { 'svc doctor': 1 },
    after: (on) => expectFiles(on, 'ada', 'bob'),
  },
  'locked-out': {
    async happens({ run }) {
      await run('systemctl start svc')
      const wrong = 'echo wrong | svc login "$(ready url)" --username ada --password-stdin || true;'
      await run(wrong.repeat(11))
      const right = `printf '${PASSWORD}' | svc login "$(ready url)" --username ada --password-stdin || echo locked`
      expect(await run(right)).toContain('locked')
    },
    async after({ run }, outputs) {
      const password = /^ {4}(\S+)$/m.exec(outputs['svc user passwd ada --generate']!)![1]!
      await run(`printf '${password}' | svc login "$(ready url)" --username ada --password-stdin`)
      expect(await run('svc user list --role admin')).toContain('rescue')
    },
  },
  'leaked-token': {
    happens: ({ run }) =>
      run('systemctl start svc; svc token mint --user bob > token; [ "$(status "$(cat token)")" = 200 ]'),
    async after({ run }, outputs) {
      expect(await run('status "$(cat token)"')).toBe('401\n')
      expect(outputs['svc device list bob']).toContain('Minted token')
      const old = `printf '${PASSWORD}' | svc login "$(ready url)" --username bob --password-stdin || echo refused`
      expect(await run(old)).toContain('refused')
    },
  },
  ransomware: {
    happens: ({ run }) =>
      run(
        `systemctl start svc; as ada; echo "$SVC_TOKEN" > token; echo encrypted | svc files put - /Photos/cat.jpg
        svc files rm /Photos/dog.jpg --yes`,
      ),
    first: { 'svc versions /Photos/cat.jpg': 'as ada' },
    async after(on, outputs) {
      expect(await on.run('status "$(cat token)"')).toBe('401\n')
      expect(outputs['svc trash list']).toContain('/Photos/dog.jpg')
      const id = /^ *(\d+)/m.exec(outputs['svc versions /Photos/cat.jpg']!)![1]!
      await on.run(`as ada; svc versions /Photos/cat.jpg --print ${id} > earlier`)
      expect((await readFile(join(on.home, 'earlier'))).equals(CAT)).toBe(true)
      expect(outputs[`svc rewind --user ada --to ${ID} --from /mnt/backup/svc`]).toContain('/Photos/dog.jpg')
      await expectFiles(on, 'ada')
    },
  },
  'wrong-deletion': {
    happens: ({ run }) =>
      run(
        `systemctl start svc; as ada; svc files rm /Photos/dog.jpg --yes; svc trash empty --yes
        svc files rm /Photos/cat.jpg --yes; svc user remove bob --yes`,
      ),
    first: { 'svc trash list': 'as ada' },
    async after(on) {
      await on.run('as ada; svc files put recovered/dog.jpg /Photos/')
      await expectFiles(on, 'ada', 'bob')
    },
  },
  'full-disk': {
    async where() {
      const disk = await smallDisk(16 << 20)
      return 'reason' in disk ? {} : { srv: `${disk.folder}/` }
    },
    async happens({ run, data }) {
      await run('systemctl start svc')
      await writeFile(join(data, 'svc.db.before-upgrade'), Buffer.alloc(2 << 20))
      if (!data.endsWith('srv-svc')) await fill(join(data, '..'))
    },
    ends: process.getuid?.() === 0 ? { 'svc doctor': 1 } : {},
    async after({ run }) {
      expect(await run('svc config get quota.default')).toContain('10')
      await run('unset SVC_TOKEN; SVC_DATA_DIR=/srv/svc-large; svc user list')
    },
  },
  'moved-server': {
    happens: ({ run }) => run('systemctl start svc; svc token mint --user ada --ttl 1d > token'),
    async after(on) {
      expect(await on.run('status "$(cat token)"')).toBe('200\n')
      expect(await on.run('svc maintenance status || true')).toContain('Moving to another machine.')
    },
  },
}

test.each(badDayPages)('%s helps on such a day', { timeout: 120_000 }, async (page) => {
  const { where, happens, first = {}, ends = {}, after } = days[page.slice('src/docs/'.length, -'.md'.length)]!
  const on = await machine(await where?.())
  await happens?.(on)
  const steps = stepsOf(pageText(page))
  const mark = '--8<-- next --8<--'
  const lines = steps.map(({ command }) => `${first[command] ?? ':'}\n${command}\necho "$? ${mark}"`)
  const script = lines.join('\n').replaceAll(ID, '"$(ls /mnt/backup/svc/snapshots | tail -n 1 | cut -d . -f 1)"')
  const { stdout, stderr } = await runShell(MACHINE + on.localized(script), on.at)
  const results = stdout.split(`${mark}\n`)
  const outputs: Outputs = {}
  for (const [index, { command }] of steps.entries()) {
    const [, printed, code] = /^([^]*?)(\d+) $/.exec(results[index] ?? '') ?? []
    // 3: done, and something wants attention.
    const good = command in ends ? [ends[command]] : [0, 3]
    expect([command, good.includes(Number(code)), printed, stderr]).toEqual([command, true, printed, stderr])
    outputs[command] = printed!
  }
  await after(on, outputs)
})
